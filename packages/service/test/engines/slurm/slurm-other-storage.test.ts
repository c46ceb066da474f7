import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createService, type Service, serviceConfigSchema } from '../../../src/index.ts';
import { hasSlurm, otherUser, runAs, slurm, until } from './slurm-rig.ts';

const isRoot = process.geteuid?.() === 0;
const user = process.env.SLUICE_TEST_SLURM_USER ?? '';
const SECRET = 'secret-of-a-pipeline';

/** What a second user of the cluster can read of a container, its volumes and its job, knowing every path and number. */
describe.skipIf((!hasSlurm && process.env.CI !== 'true') || !isRoot)('another user of the cluster', () => {
  describe.each([
    ['without unixUsers', {}],
    ['with unixUsers', { unixUsers: { vision: user } }],
  ])('%s', (_, options) => {
    const scope = { clusterID: 'hpc', accountID: 'vision' };
    const root = mkdtempSync('/var/tmp/sluice-other-');
    let service: Service;
    const api = () => service.inProcess({ userId: 'tester', accounts: [scope] });

    beforeAll(async () => {
      chmodSync(root, 0o711);
      const cluster = {
        id: 'hpc',
        engine: 'slurm',
        storage: join(root, 'storage'),
        options: { partition: 'main', pollInterval: '200ms', recordGrace: '2000ms', ...options },
        accounts: ['vision'],
        instanceTypes: [{ id: 'one', cpu: 1, memory: '1GB' }],
      };
      service = await createService({
        config: serviceConfigSchema.parse({ root: join(root, 'own'), clusters: [cluster], cancelGrace: '1s' }),
      });
    });
    afterAll(async () => {
      await service?.close();
      rmSync(root, { recursive: true, force: true, maxRetries: 10 });
    });

    it('reads and changes none of its files, and finds no value of its environment', async () => {
      await api().volumes.create(scope, { volumeID: 'data' });
      const command = ['sh', '-c', 'echo "$TOKEN" >/data/file; echo ready; sleep 600'];
      const spec = { instanceType: 'one', command, envs: { TOKEN: SECRET }, volumeMounts: { data: '/data' } };
      const { id = '' } = await api().containers.create(scope, spec, { containerID: 'kept' });
      const volume = join(root, 'storage/volumes/vision/data/file');
      await until('the command has written', () => existsWith(volume, SECRET));
      // The service may see the job later than the file. Without its number, it would not be waited for.
      let runID = '';
      await until('the service has seen the job', async () => {
        runID = (await api().containers.get({ ...scope, id })).runID ?? '';
        return runID !== '';
      });

      const paths = execFileSync('find', [root, '-mindepth', '1'], { encoding: 'utf8' }).trim().split('\n');
      expect(paths).toContain(volume);
      const script = 'for p; do if [ -r "$p" ] || [ -w "$p" ]; then echo "$p"; fi; done';
      expect(runAs(otherUser, 'sh', '-c', script, 'sh', ...paths)).toBe('');

      const spools = readdirSync(String(process.env.SLUICE_TEST_SLURM_STATE)).filter((name) =>
        name.startsWith('spool-'),
      );
      const all = spools.map((name) => join(String(process.env.SLUICE_TEST_SLURM_STATE), name));
      expect(runAs(otherUser, 'sh', '-c', `grep -rsl '${SECRET}' "$@" || :`, 'sh', ...all)).toBe('');
      expect(runAs(otherUser, 'ps', '-eo', 'args')).not.toContain(SECRET);
      expect(runAs(otherUser, 'scontrol', 'show', '--details', 'job', runID)).not.toContain(SECRET);
      expect(runAs(otherUser, 'scontrol', 'write', 'batch_script', runID, '-')).not.toContain('#!');

      await api().containers.cancel({ ...scope, id });
      await until('the job is gone', () => slurm('squeue', '--all', '--noheader', '--jobs', runID) === '');
    });
  });
});

function existsWith(path: string, text: string): boolean {
  try {
    return readFileSync(path, 'utf8').includes(text);
  } catch {
    return false;
  }
}
