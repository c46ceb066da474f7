import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isTerminalPhase } from '@sluice/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { slurmConfigSchema } from '../../../src/engines/slurm/slurm-config.ts';
import { createSlurmEngine } from '../../../src/engines/slurm/slurm-engine.ts';
import { createService, type Service, serviceConfigSchema } from '../../../src/index.ts';
import { hasSlurm, slurm, until } from './slurm-rig.ts';

const isRoot = process.geteuid?.() === 0;
const user = `sluice-${process.pid}`;

describe.skipIf((!hasSlurm && process.env.CI !== 'true') || !isRoot)(
  'Slurm engine with a user for each account',
  () => {
    const root = mkdtempSync(join(tmpdir(), 'sluice-users-'));
    const scope = { clusterID: 'hpc', accountID: 'vision' };
    const stranger = { clusterID: 'hpc', accountID: 'speech' };
    let service: Service;
    let uid: number;

    beforeAll(async () => {
      execFileSync('useradd', ['--no-create-home', '--home-dir', '/nowhere', user]);
      uid = Number(execFileSync('id', ['-u', user], { encoding: 'utf8' }));
      execFileSync('chmod', ['o+x', root]);
      await start();
    });

    async function start() {
      const cluster = {
        id: 'hpc',
        engine: 'slurm',
        storage: join(root, 'storage'),
        options: { partition: 'main', pollInterval: '200ms', recordGrace: '2000ms', unixUsers: { vision: user } },
        accounts: ['vision', 'speech'],
        instanceTypes: [{ id: 'one', cpu: 1, memory: '1GB' }],
      };
      service = await createService({
        config: serviceConfigSchema.parse({ root: join(root, 'own'), clusters: [cluster], cancelGrace: '1s' }),
      });
    }

    afterAll(async () => {
      await service?.close();
      rmSync(root, { recursive: true, force: true, maxRetries: 10 });
      execFileSync('userdel', [user]);
    });

    const api = () => service.inProcess({ userId: 'tester', accounts: [scope, stranger] });

    async function ended(of: typeof scope, id: string) {
      await until(`${id} has ended`, async () => {
        const { phase } = await api().containers.get({ ...of, id });
        return phase !== undefined && isTerminalPhase(phase);
      });
      const chunks: Uint8Array[] = [];
      for await (const chunk of api().containers.logs({ ...of, id })) chunks.push(chunk);
      const { phase, state } = await api().containers.get({ ...of, id });
      return { phase, state, log: Buffer.concat(chunks).toString() };
    }

    it('runs the job as that user, who owns the volume and what the service makes in it', async () => {
      await api().volumes.create(scope, { volumeID: 'data' });
      const command = ['sh', '-c', 'echo "$HOME"; echo made > /data/file && echo written'];
      const spec = { instanceType: 'one', command, volumeMounts: { 'data:run/part:dir': '/data', data: '/all' } };
      await api().containers.create(scope, spec, { containerID: 'first' });
      expect(await ended(scope, 'first')).toMatchObject({ phase: 'Succeeded', log: '/tmp\nwritten\n' });
      const later = { ...spec, volumeMounts: { 'data:later/part:dir': '/data' } };
      await api().containers.create(scope, later, { containerID: 'second' });
      expect(await ended(scope, 'second')).toMatchObject({ phase: 'Succeeded', log: '/tmp\nwritten\n' });
      const volume = join(root, 'storage/volumes/vision/data');
      for (const name of ['', 'run', 'run/part', 'run/part/file', 'later', 'later/part', 'later/part/file'])
        expect(statSync(join(volume, name)).uid, name).toBe(uid);
      expect(statSync(volume).mode & 0o777).toBe(0o700);
    });

    it('follows no link that the user puts in the place of a log', async () => {
      await api().containers.create(scope, { instanceType: 'one', command: ['echo', 'own'] }, { containerID: 'link' });
      expect(await ended(scope, 'link')).toMatchObject({ log: 'own\n' });
      const containers = join(root, 'storage/containers');
      const directory = readdirSync(containers).find((name) => name.startsWith('link-'));
      const log = join(containers, String(directory), 'log');
      rmSync(log);
      symlinkSync('/etc/passwd', log);
      expect(await ended(scope, 'link')).toMatchObject({ log: '' });
    });

    it('believes no record of a user that the job has ended, or where it runs', async () => {
      const id = 'forged';
      await api().containers.create(scope, { instanceType: 'one', command: ['sleep', '600'] }, { containerID: id });
      const containers = join(root, 'storage/containers');
      const directory = () => join(containers, String(readdirSync(containers).find((name) => name.startsWith(id))));
      await until('it runs', async () => (await api().containers.get({ ...scope, id })).phase === 'Running');
      const jobs = () => slurm('squeue', '--noheader', '--states=RUNNING', `--user=${user}`, '--format=%i').trim();
      const forge = (name: string, text: string) => writeFileSync(join(directory(), name), text);
      forge('start.json', '{"node":"elsewhere","jobId":"1"}\n');
      forge('exit.json', '{"exitCode":0,"asked":false}\n');
      forge('slurm-job', '1');
      // Another service, which has nothing but Slurm and the records to go by.
      await service.close();
      await start();
      const { phase, nodeID } = await api().containers.get({ ...scope, id });
      expect(phase).toBe('Running');
      expect(nodeID).toMatch(/^n\d$/);
      expect(jobs()).not.toBe('');
      await api().containers.cancel({ ...scope, id });
      await until('the job is gone', () => jobs() === '');
      await ended(scope, id);
    });

    it('rejects an account that no user is configured for', async () => {
      await api().containers.create(stranger, { instanceType: 'one', command: ['true'] }, { containerID: 'third' });
      expect(await ended(stranger, 'third')).toMatchObject({
        phase: 'Failed',
        state: expect.stringContaining('no Unix user is configured for it'),
      });
    });

    it.each([
      ['a user that is not there', { vision: 'no-such-user' }, root, /no such user/],
      ['root', { vision: 'root' }, root, /that is root; configure another user/],
      ['storage that users cannot come to', { vision: user }, join(root, 'own/storage'), /is closed to them/],
    ])('does not start with %s', async (_, unixUsers, storage, message) => {
      const engine = createSlurmEngine(slurmConfigSchema.parse({ unixUsers }), { storage });
      await expect(engine.open({ report: () => {} })).rejects.toThrow(message);
    });
  },
);
