import { describe, expect, it } from 'vitest';
import type { Launch, Mount } from '../../../src/engines/engine.ts';
import { checkRuntime } from '../../../src/engines/slurm/check-runtime.ts';

const launchWith = (mount: Partial<Mount>): Launch => ({
  key: 'one-1',
  containerID: 'one',
  clusterID: 'main',
  accountID: 'physics',
  image: 'busybox',
  command: ['true'],
  env: {},
  ports: {},
  mounts: [{ root: '/storage/v', subPath: '', kind: 'dir', target: '/out', readOnly: false, ...mount }],
  limits: { cores: 1, memoryBytes: 1, gpus: 0 },
  directory: '/storage/one-1',
  logPath: '/storage/one-1/log',
  options: {},
});

describe('checkRuntime', () => {
  it.each([
    ['apptainer', { subPath: 'a,/storage' }, ','],
    ['apptainer', { target: '/out,/etc:/host' }, ':'],
    ['podman', { target: '/out:rw' }, ':'],
    ['podman', { subPath: 'a:/host' }, ':'],
    ['charliecloud', { target: '/out:/etc' }, ':'],
  ] as const)(
    'rejects for %s a mount of %j, whose %s would begin another part of its option',
    (runtime, mount, sign) => {
      const why = `${runtime} takes no '${sign}' in the path of a mount`;
      expect(() => checkRuntime(launchWith(mount), { runtime })).toThrow(why);
    },
  );

  it('rejects a container without an image, unless it may run on the node', () => {
    const { image: _, ...onNode } = launchWith({ target: '/out:rw' });
    const why = 'a container on this cluster needs an image, which podman runs; set an image, or';
    expect(() => checkRuntime(onNode, { runtime: 'podman' })).toThrow(why);
    expect(() => checkRuntime(onNode, { runtime: 'podman', withoutImage: 'node' })).not.toThrow();
    const withoutCommand = { ...onNode, command: [] };
    expect(() => checkRuntime(withoutCommand, { runtime: 'podman', withoutImage: 'node' })).toThrow('needs a command');
  });

  it.each(['podman', 'charliecloud'] as const)('takes a comma for %s', (runtime) => {
    expect(() => checkRuntime(launchWith({ subPath: 'a,b', target: '/out,1' }), { runtime })).not.toThrow();
  });
});
