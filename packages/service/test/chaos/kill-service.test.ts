import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ContainerService, createHttpService, isServiceError, isTerminalPhase } from '@sluice/client';
import { until } from '@sluice/client/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EMBEDDED_SCOPE } from '../../src/index.ts';
import { buildServiceProgram, type ServiceProgram } from './service-process.ts';

const KILLS = 6;
const CALLERS = 50;
/** Generous, since the machine may be busy. */
const PATIENCE = { timeoutMs: 120_000 };

let program: ServiceProgram;
beforeAll(async () => {
  program = await buildServiceProgram();
});
afterAll(() => program.remove());

/** An ID and what its caller knows about it. A deletion frees the ID for the next generation. */
interface Caller {
  readonly id: string;
  generation: number;
  /** Uncertain: the service was killed before it replied to a create or a delete. */
  knows: 'absent' | 'present' | 'create in doubt' | 'delete in doubt';
  canceled: boolean;
}

describe.each(process.env.CHAOS_SEED === undefined ? [Date.now() % 1e9] : [Number(process.env.CHAOS_SEED)])(
  'kill -9 of the service at any moment, CHAOS_SEED=%d',
  (seed) => {
    it('during creates, cancels and deletes keeps what was acknowledged, and starts nothing twice', async () => {
      const random = createRandom(seed);
      const root = mkdtempSync(join(tmpdir(), `sluice-chaos-${seed}-`));
      const callers = Array.from({ length: CALLERS }, (_, i): Caller => {
        return { id: `c-${i}`, generation: 0, knows: 'absent', canceled: false };
      });
      let running = await open(root);
      try {
        await running.service.volumes.create(EMBEDDED_SCOPE, { volumeID: 'starts' });
        for (let kill = 0; kill < KILLS; kill++) {
          const calls = callers.map((caller) => callUntilGone(running.service, { caller, random }));
          await new Promise((resolve) =>
            AbortSignal.timeout(Math.floor(random() * 600)).addEventListener('abort', resolve),
          );
          await running.kill();
          await Promise.all(calls);
          running = await open(root);
        }
        await Promise.all(callers.map((caller) => resolveDoubt(running.service, caller)));
        await checkAll(running.service, { root, callers });
      } finally {
        // A failed test must not leave containers or the service running either.
        await Promise.allSettled(callers.map(({ id }) => running.service.containers.delete(refOf(id))));
        await running.kill();
      }
      expect(await processesOf(root)).toEqual([]);
      rmSync(root, { recursive: true, force: true, maxRetries: 10 });
    });
  },
);

const refOf = (id: string) => ({ ...EMBEDDED_SCOPE, id });

async function open(root: string) {
  const socketPath = join(root, 's.sock');
  const child: ChildProcess = await program.start(join(root, 'data'), socketPath);
  const service = createHttpService({ baseUrl: 'http://localhost', socketPath, token: 'none' });
  return {
    service,
    async kill() {
      const gone = once(child, 'exit');
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGKILL');
        await gone;
      }
      await service.close();
    },
  };
}

/** Makes random calls until the service no longer replies. */
async function callUntilGone(
  service: ContainerService,
  { caller, random }: { caller: Caller; random: () => number },
): Promise<void> {
  try {
    for (;;) {
      await resolveDoubt(service, caller);
      if (caller.knows === 'absent') await create(service, { caller, isShort: random() < 0.4 });
      else if (random() < 0.3) await remove(service, caller);
      else if (random() < 0.4) await cancel(service, caller);
      else await service.containers.get(refOf(caller.id));
    }
  } catch (error) {
    if (!isServiceError(error, 'NO_REPLY', 'UNREACHABLE', 'ABORTED')) throw error;
  }
}

async function create(service: ContainerService, { caller, isShort }: { caller: Caller; isShort: boolean }) {
  const name = `${caller.id}.${caller.generation}`;
  const command = [
    'sh',
    '-c',
    `echo ${name} $(readlink /proc/$$/fd/1) >> /starts/log; ${isShort ? 'sleep 0.05' : 'sleep 1000'}`,
  ];
  const spec = {
    ...{ instanceType: 'local-1', command, volumeMounts: { starts: '/starts' } },
    labels: { generation: String(caller.generation), isShort: String(isShort) },
  };
  caller.knows = 'create in doubt';
  await service.containers.create(EMBEDDED_SCOPE, spec, { containerID: caller.id });
  caller.knows = 'present';
}

async function remove(service: ContainerService, caller: Caller): Promise<void> {
  caller.knows = 'delete in doubt';
  await service.containers.delete(refOf(caller.id));
  forget(caller);
}

function forget(caller: Caller): void {
  Object.assign(caller, { generation: caller.generation + 1, knows: 'absent', canceled: false });
}

async function cancel(service: ContainerService, caller: Caller): Promise<void> {
  try {
    await service.containers.cancel(refOf(caller.id));
    caller.canceled = true;
  } catch (error) {
    if (!isServiceError(error, 'FAILED_PRECONDITION')) throw error;
  }
}

/** As the runner does, by requesting the same ID. */
async function resolveDoubt(service: ContainerService, caller: Caller): Promise<void> {
  if (!caller.knows.endsWith('in doubt')) return;
  try {
    const { labels } = await service.containers.get(refOf(caller.id));
    expect(labels?.generation, caller.id).toBe(String(caller.generation));
    caller.knows = 'present';
  } catch (error) {
    if (!isServiceError(error, 'NOT_FOUND')) throw error;
    if (caller.knows === 'delete in doubt') forget(caller);
    else caller.knows = 'absent';
  }
}

async function checkAll(service: ContainerService, { root, callers }: { root: string; callers: readonly Caller[] }) {
  const listed: string[] = [];
  for await (const { id } of service.containers.list(EMBEDDED_SCOPE, { all: true })) listed.push(id);
  const present = callers.filter(({ knows }) => knows === 'present');
  expect(listed.toSorted()).toEqual(present.map(({ id }) => id).toSorted());
  for (const caller of present) {
    const settled = await until(
      `${caller.id} runs or has ended`,
      async () => {
        const now = await service.containers.get(refOf(caller.id));
        return now.phase === 'Running' || isTerminalPhase(now.phase ?? '') ? now : undefined;
      },
      PATIENCE,
    );
    expect(settled.labels?.generation).toBe(String(caller.generation));
    // An end was requested, or is the container's own.
    if (caller.canceled) expect(settled).toMatchObject({ phase: 'Canceled' });
    else if (settled.labels?.isShort === 'false')
      expect(settled.phase, settled.state).toBeOneOf(['Running', 'Canceled']);
    else expect(settled.phase, settled.state).toBeOneOf(['Running', 'Succeeded', 'Canceled']);
  }
  const ledger = join(root, 'data/clusters/local/volumes/local/starts/log');
  const starts = existsSync(ledger) ? readFileSync(ledger, 'utf8').trim().split('\n') : [];
  const nameOf = (start: string) => start.split(' ')[0];
  const names = starts.map(nameOf);
  const isRepeated = (start: string) => names.indexOf(nameOf(start)) !== names.lastIndexOf(nameOf(start));
  expect(starts.filter(isRepeated)).toEqual([]);
}

/** Processes of containers of this root that remain after they had time to end. */
async function processesOf(root: string): Promise<string[]> {
  const find = () =>
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map((pid) => readOr(`/proc/${pid}/mountinfo`))
      .filter((mounts) => mounts.includes(`${root}/data/clusters`));
  return until('no container is left', async () => (find().length === 0 ? [] : undefined), PATIENCE).catch(find);
}

function readOr(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** Deterministic random numbers from 0 to 1 (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
