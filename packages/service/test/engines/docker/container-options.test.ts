import { type JobRequest, jobRequestSchema } from '@sluice/client';
import { describe, expect, it } from 'vitest';
import { containerOptionsOf } from '../../../src/engines/docker/container-options.ts';
import { dockerConfigSchema } from '../../../src/engines/docker/docker-config.ts';

const configOf = (config: object) => dockerConfigSchema.parse(config);
const BOTH = { soft: 5, hard: 5 };

describe('containerOptionsOf', () => {
  it('replaces the options of the cluster by those of the instance type, and these by those of the step', () => {
    const config = configOf({ shmSize: '1GB', user: '1:1', ulimits: { nofile: 9, core: 0 }, allow: ['ulimits'] });
    const job = { docker: { ulimits: { nofile: BOTH } } };
    expect(containerOptionsOf(config, { options: { shmSize: '2GB' }, job })).toEqual({
      shmSizeBytes: 2e9,
      ulimits: { nofile: BOTH, core: { soft: 0, hard: 0 } },
      user: '1:1',
      staysUser: true,
      pull: 'missing',
    });
  });

  it('lets every step set when its image is pulled', () => {
    const of = (job: JobRequest) => containerOptionsOf(configOf({ pull: 'always' }), { options: {}, job }).pull;
    expect(of({ docker: { pull: 'never' } })).toBe('never');
    expect(of({})).toBe('always');
  });

  it('rejects what the list does not contain, and says who can allow it', () => {
    const job = { docker: { shmSize: 1, user: '1000' } };
    expect(() => containerOptionsOf(configOf({ allow: ['shmSize'] }), { options: {}, job })).toThrow(
      "could not use 'docker.user' of the step: the cluster allows only shmSize; the administrator of the service can add it to 'allow'",
    );
    expect(() => containerOptionsOf(configOf({}), { options: {}, job })).toThrow('none of these options');
  });

  it.each([
    ['0', 'this user is root'],
    ['00:1000', 'this user is root'],
    ['root', 'this user is root'],
    ['node', 'a name can belong to root in the image'],
    ['2147483648', 'is at most 2147483647'],
    ['1000:2147483648', 'is at most 2147483647'],
  ])('rejects the user %s where root is not allowed', (user, why) => {
    const of = () => containerOptionsOf(configOf({ allow: ['user'] }), { options: {}, job: { docker: { user } } });
    expect(of).toThrow(expect.objectContaining({ code: 'REJECTED', message: expect.stringContaining(why) }));
  });

  it.each(['0', 'root', 'node', '1000:1000'])('takes the user %s where root is allowed', (user) => {
    const config = configOf({ allow: ['user', 'root'] });
    expect(containerOptionsOf(config, { options: {}, job: { docker: { user } } })).toMatchObject({
      user,
      staysUser: false,
    });
  });
});

describe('jobRequestSchema', () => {
  it.each([
    { shmSize: 0 },
    { shmSize: 1.5 },
    { ulimits: { nice: BOTH } },
    { ulimits: { nofile: { soft: 6, hard: 5 } } },
    { ulimits: { nofile: { soft: -1, hard: 5 } } },
    { user: '' },
    { user: '-1' },
    { user: '1000:' },
    { user: 'a b' },
    { privileged: true },
  ])('rejects %j', (docker) => {
    expect(jobRequestSchema.safeParse({ docker }).success).toBe(false);
  });
});
