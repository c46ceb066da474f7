import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Container,
  type ContainerService,
  createHttpService,
  isServiceError,
  isTerminalPhase,
} from '@sluice/client';
import { until } from '@sluice/client/contract';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { EMBEDDED_SCOPE } from '../../src/index.ts';
import { buildServiceProgram, type ServiceProgram } from './service-process.ts';

const COUNT = 100;
/** Every third container ends by itself, possibly while no service runs. */
const endOf = (i: number) => (i % 3 === 0 ? { command: `sleep 0.${i % 10}; exit ${i % 7}`, exit: i % 7 } : undefined);

let program: ServiceProgram;
let root: string;
let child: ChildProcess | undefined;
beforeAll(async () => {
  program = await buildServiceProgram();
});
afterAll(() => program.remove());
// A failed test must not leave containers or the service running either.
afterEach(async () => {
  if (child?.exitCode !== null || child.signalCode !== null) return;
  const service = createHttpService({ baseUrl: 'http://localhost', socketPath: join(root, 's.sock'), token: 'none' });
  for (const id of (await listAll(service)).keys()) await service.containers.delete({ ...EMBEDDED_SCOPE, id });
  await service.close();
  await kill();
});

async function kill(): Promise<void> {
  const gone = once(child!, 'exit');
  child!.kill('SIGKILL');
  await gone;
}

describe.each([0.05, 0.3, 0.8, 1.6])('kill -9 of the service %d s after the first of 100 creates', (seconds) => {
  it('loses nothing that was acknowledged, starts nothing twice, and reports no false end', async () => {
    root = mkdtempSync(join(tmpdir(), 'sluice-chaos-'));
    const socketPath = join(root, 's.sock');
    child = await program.start(join(root, 'data'), socketPath);
    const connect = () => createHttpService({ baseUrl: 'http://localhost', socketPath, token: 'none' });
    let service = connect();
    await service.volumes.create(EMBEDDED_SCOPE, { volumeID: 'starts' });
    const creating = createAll(service);
    const [instanceType] = await service.discovery.listInstanceTypes('-');
    expect(instanceType?.id).toBe('local-1');
    await new Promise((resolve) => AbortSignal.timeout(seconds * 1000).addEventListener('abort', resolve));
    await kill();
    const acknowledged = await creating;
    await service.close();

    child = await program.start(join(root, 'data'), socketPath);
    service = connect();
    const found = await listAll(service);
    expect(acknowledged.filter((id) => !found.has(id))).toEqual([]);
    for (const [id, container] of found) await checkEnd(service, id, container);
    const starts = readFileSync(join(root, 'data/clusters/local/volumes/local/starts/log'), 'utf8').trim().split('\n');
    expect(new Set(starts).size).toBe(starts.length);
    expect(starts.filter((id) => !found.has(id))).toEqual([]);

    await Promise.all([...found.keys()].map((id) => service.containers.delete({ ...EMBEDDED_SCOPE, id })));
    expect(await listAll(service)).toEqual(new Map());
    await service.close();
    await kill();
    rmSync(root, { recursive: true, force: true, maxRetries: 10 });
  });
});

/** The IDs that the service lists. */
async function createAll(service: ContainerService): Promise<string[]> {
  const acknowledged: string[] = [];
  const create = async (i: number) => {
    const script = `echo c-${i} >> /starts/log; ${endOf(i)?.command ?? 'sleep 1000'}`;
    const spec = { instanceType: 'local-1', command: ['sh', '-c', script], volumeMounts: { starts: '/starts' } };
    try {
      await service.containers.create(EMBEDDED_SCOPE, spec, { containerID: `c-${i}` });
      acknowledged.push(`c-${i}`);
    } catch (error) {
      if (!isServiceError(error, 'NO_REPLY', 'UNREACHABLE')) throw error;
    }
  };
  await Promise.all(Array.from({ length: COUNT }, (_, i) => create(i)));
  return acknowledged;
}

async function listAll(service: ContainerService): Promise<Map<string, Container>> {
  const found = new Map<string, Container>();
  for await (const { id } of service.containers.list(EMBEDDED_SCOPE, { all: true, pageSize: 30 })) {
    found.set(id, await service.containers.get({ ...EMBEDDED_SCOPE, id }));
  }
  return found;
}

/** Containers that end by themselves have their own exit code; the others run. */
async function checkEnd(service: ContainerService, id: string, seen: Container): Promise<void> {
  const ref = { ...EMBEDDED_SCOPE, id };
  const end = endOf(Number(id.slice(2)));
  if (end === undefined) {
    const container = await until(`${id} running`, async () => {
      const now = await service.containers.get(ref);
      return now.phase === 'Running' || isTerminalPhase(now.phase ?? '') ? now : undefined;
    });
    expect(container, JSON.stringify(seen)).toMatchObject({ phase: 'Running' });
    return;
  }
  const container = await until(`the end of ${id}`, async () => {
    const now = await service.containers.get(ref);
    return isTerminalPhase(now.phase ?? '') ? now : undefined;
  });
  expect(container).toMatchObject({ phase: end.exit === 0 ? 'Succeeded' : 'Failed', state: `exit code ${end.exit}` });
}
