import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isTerminalPhase } from '@sluice/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createService, type Service, serviceConfigSchema } from '../../../src/index.ts';
import { hasSlurm, slurm, until } from './slurm-rig.ts';

const isRoot = process.geteuid?.() === 0;
const user = `sluice-${process.pid}`;
const scope = { clusterID: 'hpc', accountID: 'vision' };

describe.skipIf((!hasSlurm && process.env.CI !== 'true') || !isRoot)('allocations with a user for each account', () => {
  const root = mkdtempSync(join(tmpdir(), 'sluice-users-'));
  const storage = join(root, 'storage');
  let service: Service;
  let uid: number;

  beforeAll(async () => {
    execFileSync('useradd', ['--no-create-home', '--home-dir', '/nowhere', user]);
    uid = Number(execFileSync('id', ['-u', user], { encoding: 'utf8' }));
    chmodSync(root, 0o711);
    const allocations = { nodes: 2, max: 1, idleTimeout: '10s' };
    const cluster = {
      ...{ id: 'hpc', engine: 'slurm', storage, accounts: ['vision'] },
      options: { partition: 'main', pollInterval: '200ms', unixUsers: { vision: user }, allocations },
      instanceTypes: [{ id: 'one', cpu: 1, memory: '1GB' }],
    };
    const config = serviceConfigSchema.parse({ root: join(root, 'own'), clusters: [cluster], cancelGrace: '1s' });
    service = await createService({ config });
  });
  afterAll(async () => {
    await service.close();
    slurm('scancel', `--user=${user}`);
    await until('no job of the user is left', () => slurm('squeue', '--noheader', `--user=${user}`).trim() === '');
    rmSync(root, { recursive: true, force: true, maxRetries: 10 });
    execFileSync('userdel', [user]);
  });

  test('belong to the user on each of their nodes, and so do their containers', async () => {
    const api = service.inProcess({ userId: 'tester', accounts: [scope] });
    await api.volumes.create(scope, { volumeID: 'data' });
    const script = 'id -u >>/data/users; until [ "$(wc -l </data/users)" = 8 ]; do sleep 0.05; done';
    const spec = { instanceType: 'one', command: ['sh', '-c', script], volumeMounts: { data: '/data' } };
    const ids = Array.from({ length: 8 }, (_, index) => `one-${index}`);
    for (const containerID of ids) await api.containers.create(scope, spec, { containerID });
    const nodes = new Set<string>();
    await until('all have ended', async () => {
      const found = await Promise.all(ids.map((id) => api.containers.get({ ...scope, id })));
      for (const { nodeID } of found) if (nodeID !== undefined) nodes.add(nodeID);
      return found.every(({ phase }) => phase !== undefined && isTerminalPhase(phase));
    });
    for (const id of ids) expect(await api.containers.get({ ...scope, id })).toMatchObject({ phase: 'Succeeded' });
    expect(nodes.size).toBe(2);
    expect(execFileSync('cat', [join(storage, 'volumes/vision/data/users')], { encoding: 'utf8' })).toBe(
      `${uid}\n`.repeat(8),
    );
    const directories = readdirSync(join(storage, 'allocations'), { withFileTypes: true }).filter((file) =>
      file.isDirectory(),
    );
    expect(directories.map(({ name }) => statSync(join(storage, 'allocations', name)).uid)).toEqual([uid, uid]);
    await until('the allocation has ended', () =>
      readdirSync(join(storage, 'allocations'), { withFileTypes: true }).every((file) => !file.isDirectory()),
    );
  });
});
