import type { Container } from '@sluice/client';
import { createPlan, parsePipeline } from '@sluice/core';
import { describeStatus, type RunReport } from '@sluice/run';
import { describe, expect, test } from 'vitest';
import { startRun } from '../../src/run/start-run.ts';
import { writeFile } from '../simulation/memory-files.ts';
import { createRig, type Rig, type RigOptions } from '../simulation/rig.ts';

const HOUR = 3_600_000;

interface Ran {
  readonly rig: Rig;
  readonly report: RunReport;
  /** Milliseconds from the start of the run to its end. */
  readonly tookMs: number;
}

/** Runs a pipeline file's keys `text` in the simulated world. */
async function run(
  text: string,
  options: RigOptions & { rig?: Rig; params?: Record<string, string> } = {},
): Promise<Ran> {
  const parsed = parsePipeline({ file: 'p.yaml', text: `version: 1\nname: keys\n${text}` });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.error));
  const plan = createPlan(parsed.value.pipeline, { params: options.params ?? {} });
  if (!plan.ok) throw new Error(JSON.stringify(plan.error));
  const rig = options.rig ?? createRig(text, options);
  const started = await rig.go(startRun({ ...rig.options, plan: plan.value, baseDir: '/base' }));
  if (!started.ok) throw new Error(started.error.message);
  const begun = rig.clock.now();
  const report = await rig.go(started.value.finished);
  return { rig, report, tookMs: rig.clock.now() - begun };
}

const states = ({ report }: Ran) => report.steps.map((step) => `${step.step} ${describeStatus(step)}`);
/** Steps in the order in which their containers were created. */
const order = ({ rig }: Ran) => rig.created().map(({ wire }) => wire.labels?.['sluice-step']);
const types = ({ rig }: Ran) => rig.created().map(({ wire }) => wire.instanceType);

/** Writes a result as the program of the container would. */
function writeResult(rig: Rig, container: Container, result: { name: string; value: string }): void {
  const mounts = Object.entries(container.volumeMounts ?? {});
  const [key = ''] = mounts.find(([, at]) => at === '/sluice/results') ?? [];
  const [volume = '', at = ''] = key.split(':');
  writeFile(rig.simulated.volumes.get(volume)!, `${at}/${result.name}`, Buffer.from(result.value));
}

describe('times', () => {
  test('timeout: ends an attempt that runs too long, and it may be tried again', async () => {
    const ran = await run('steps: { a: { command: [x], timeout: 10m, retry: { limit: 1, on: [timeout] } } }', {
      behave: { a: { runMs: HOUR } },
    });
    expect(states(ran)).toEqual(['a failed (timeout)']);
    expect(ran.rig.created().map(({ wire }) => wire.phase)).toEqual(['Canceled', 'Canceled']);
    expect(ran.report.failures.map((failure) => failure.reason)).toEqual(['timeout', 'timeout']);
    expect(ran.tookMs).toBeGreaterThanOrEqual(20 * 60_000);
    expect(ran.tookMs).toBeLessThan(25 * 60_000);
  });

  test('queueTimeout: ends an attempt that the service does not start', async () => {
    const ran = await run('steps: { a: { command: [x], queueTimeout: 5m } }', { behave: { a: { pendingMs: HOUR } } });
    expect(states(ran)).toEqual(['a failed (timeout)']);
    expect(ran.tookMs).toBeLessThan(10 * 60_000);
  });

  test('deadline: bounds all attempts together', async () => {
    const ran = await run(
      'steps: { a: { command: [x], deadline: 30m, retry: { limit: 9, on: [failed], backoff: { initial: 1s, max: 1s } } } }',
      { behave: { a: { runMs: 12 * 60_000, end: 'Failed' } } },
    );
    expect(states(ran)).toEqual(['a failed (timeout)']);
    expect(ran.rig.created()).toHaveLength(3);
    expect(ran.tookMs).toBeLessThan(35 * 60_000);
  });

  test('timeout of the run: cancels what runs, and `finally` runs all the same', async () => {
    const ran = await run(
      'timeout: 10m\nsteps: { a: { command: [x] }, b: { command: [x], needs: [a] } }\nfinally: { f: { command: [x] } }',
      { behave: { a: { runMs: HOUR } } },
    );
    expect(states(ran)).toEqual(['a failed (timeout)', 'b canceled', 'f succeeded']);
    expect(ran.report.status).toBe('failed');
  });

  test('approval with a timeout: times out without an answer', async () => {
    const ran = await run('steps: { ask: { approval: { timeout: 1h } }, after: { command: [x], needs: [ask] } }');
    expect(states(ran)).toEqual(['ask failed (timeout)', 'after skipped']);
    expect(ran.tookMs).toBeGreaterThanOrEqual(HOUR);
  });
});

describe('order and capacity', () => {
  test('priority: the higher goes first, and parallelism bounds the run', async () => {
    const ran = await run(
      'parallelism: 1\nsteps: { low: { command: [x], priority: -1 }, middle: { command: [x] }, high: { command: [x], priority: 5 } }',
    );
    expect(order(ran)).toEqual(['high', 'middle', 'low']);
  });

  test('foreach: a literal list gives a cell for each item', async () => {
    const ran = await run(
      'steps: { a: { command: [x, "${{ item }}"], foreach: [b, 2] }, c: { command: [y], needs: a } }',
    );
    expect(ran.rig.created().map(({ wire }) => wire.command?.slice(-2).join(' '))).toEqual(
      expect.arrayContaining(['x b', 'x 2']),
    );
    expect(states(ran)).toEqual(['a succeeded', 'c succeeded']);
  });

  test('every container knows its run, step, cell and attempt, and where its results belong', async () => {
    const text =
      'steps: { a: { command: [x], env: { OWN: "1" }, retry: 1, results: { n: number } }, b: { command: [x], matrix: { k: [1] } } }';
    const ran = await run(text, { behave: { a: { end: 'Failed', exitCode: 1 } } });
    const envs = ran.rig.created().map(({ wire }) => wire.envs);
    const common = { SLUICE_RUN_ID: expect.stringMatching(/^[a-z0-9]+$/), SLUICE_STEP: 'a', SLUICE_CELL: '' };
    const a = { ...common, OWN: '1', SLUICE_RESULTS: '/sluice/results' };
    expect(envs).toHaveLength(3);
    expect(envs).toContainEqual({ ...a, SLUICE_ATTEMPT: '1' });
    expect(envs).toContainEqual({ ...a, SLUICE_ATTEMPT: '2' });
    expect(envs).toContainEqual({ ...common, SLUICE_STEP: 'b', SLUICE_CELL: 'k-1', SLUICE_ATTEMPT: '1' });
  });

  test('results: the report has those of steps that succeeded, and none if none are declared', async () => {
    const steps = 'steps: { a: { command: [x], results: { n: number } }, b: { command: [x], results: { n: number } } }';
    const rig: Rig = createRig('results', {
      behave: {
        a: { work: (container) => writeResult(rig, container, { name: 'n', value: '7' }) },
        b: { end: 'Failed' },
      },
    });
    const ran = await run(`failFast: false\nresults: { total: a.n, other: b.n }\n${steps}`, { rig });
    expect(ran.report.results).toEqual({ total: 7 });
    expect((await run(`failFast: false\n${steps}`)).report).not.toHaveProperty('results');
  });

  test('parallelism: bounds the cells of a step', async () => {
    const ran = await run('steps: { a: { command: [x], matrix: { n: [1, 2, 3, 4, 5, 6] }, parallelism: 2 } }', {
      behave: { a: { runMs: 60_000 } },
    });
    expect(ran.tookMs).toBeGreaterThanOrEqual(3 * 60_000);
    expect(ran.tookMs).toBeLessThan(4 * 60_000);
  });

  test('matrix: exclude takes cells away, include adds to them and adds new ones', async () => {
    const ran = await run(`steps:
  a:
    command: [x, "\${{ matrix.m }}"]
    matrix:
      m: [p, q]
      k: [1, 2]
      exclude: [{ m: q, k: 2 }]
      include: [{ m: q, rate: 0.5 }, { m: r }]
`);
    const keys = ran.report.steps[0]!.cells.map(({ cell }) => cell);
    expect(keys).toEqual(['m-p-k-1', 'm-p-k-2', 'm-q-k-1-rate-0p5', 'm-r']);
  });
});

describe('failures', () => {
  const branches = 'steps: { a: { command: [x] }, b: { command: [x] }, c: { command: [x], needs: [b] } }';
  const behave = { a: { end: 'Failed' as const, runMs: 100 }, b: { runMs: 10_000 } };

  test('failFast: starts nothing new after a failure, and lets what runs end', async () => {
    expect(states(await run(branches, { behave }))).toEqual(['a failed', 'b succeeded', 'c skipped']);
  });

  test('failFast false: goes on with every branch that does not depend on the failure', async () => {
    const ran = await run(`failFast: false\n${branches}`, { behave });
    expect([states(ran), ran.report.status]).toEqual([['a failed', 'b succeeded', 'c succeeded'], 'failed']);
  });

  test('continueOnError: the run succeeds, and what does not need a success goes on', async () => {
    const steps =
      'a: { command: [x], continueOnError: true }, b: { command: [x], needs: [a] }, c: { command: [x], needs: { a: completed } }';
    const ran = await run(`steps: { ${steps} }`, { behave });
    expect([states(ran), ran.report.status]).toEqual([['a failed', 'b skipped', 'c succeeded'], 'succeeded']);
  });

  test('retry: infrastructure has a budget of its own, which leaves `limit` alone', async () => {
    const text = (budget: string) =>
      `steps: { a: { command: [x], retry: { limit: 1, on: [failed], backoff: { initial: 1s }, ${budget} } } }`;
    const lost = { behave: { a: { end: 'Unknown' as const } } };
    const two = await run(text('infrastructure: 2'), lost);
    expect([states(two), two.rig.created().length]).toEqual([['a failed (infrastructure)'], 3]);
    const none = await run(text('infrastructure: 0'), lost);
    expect(none.rig.created()).toHaveLength(1);
    const own = await run(text('infrastructure: 2'), { behave: { a: { end: 'Failed' } } });
    expect([states(own), own.rig.created().length]).toEqual([['a failed'], 2]);
  });

  test('retry: escalates after memory ran out, and not after a loss of the infrastructure', async () => {
    const text =
      'steps: { a: { command: [x], resources: { cpu: 1 }, retry: { limit: 2, on: [oom], escalate: [{ cpu: 2 }, sim-8] } } }';
    const oom = await run(text, { behave: { a: { end: 'Failed', outOfMemory: true } } });
    expect(types(oom)).toEqual(['sim-1', 'sim-2', 'sim-8']);
    const lost = await run(text, { behave: { a: { end: 'Unknown' } } });
    expect(new Set(types(lost))).toEqual(new Set(['sim-1']));
  });

  test('retry: only the exit codes that are named', async () => {
    const text = 'steps: { a: { command: [x], retry: { limit: 2, exitCodes: [75] } } }';
    const other = await run(text, { behave: { a: { end: 'Failed', exitCode: 1 } } });
    expect(other.rig.created()).toHaveLength(1);
    const named = await run(text, { behave: { a: { end: 'Failed', exitCode: 75 } } });
    expect(named.rig.created()).toHaveLength(3);
  });
});

describe('services', () => {
  test('ready by a command: dependents start when its container has left the sign', async () => {
    const rig: Rig = createRig('ready', { behave: { db: { runMs: HOUR } } });
    const text =
      'steps: { db: { command: [serve, here], service: { ready: { command: [ask, now] } } }, use: { command: [x], needs: [db] } }';
    const db = () => rig.created().find(({ wire }) => wire.labels?.['sluice-step'] === 'db');
    const sign = () => Object.keys(db()?.wire.volumeMounts ?? {}).find((key) => key.includes('_ready'));
    const ends = run(text, { rig });
    rig.clock.setTimer(rig.clock.now() + 60_000, () => {
      expect(rig.created()).toHaveLength(1);
      const [volume = '', at = ''] = sign()!.split(':');
      writeFile(rig.simulated.volumes.get(volume)!, `${at}/ok`, Buffer.from(''));
    });
    const ran = await ends;
    expect(states(ran)).toEqual(['db succeeded', 'use succeeded']);
    expect(db()!.wire.command).toEqual(['sh', '-c', expect.any(String), 'sluice', '2', 'ask', 'now', 'serve', 'here']);
    expect(rig.created()).toHaveLength(2);
  });
});

describe('expressions', () => {
  test('steps.<name>.outputs: a published place as text', async () => {
    const ran = await run(
      'steps: { a: { command: [x], outputs: { o: /o } }, b: { command: [x, "${{ steps.a.outputs.o }}"] } }',
    );
    expect(states(ran)).toEqual(['a succeeded', 'b succeeded']);
    const [volume] = ran.rig.simulated.volumes.keys();
    expect(ran.rig.created()[1]!.wire.command).toEqual(['x', `${volume}:runs/${ran.report.runId}/out/a/o`]);
  });
});

describe('cache', () => {
  const text = (cache: string) => `params: { note: none, size: 1 }
steps:
  a:
    command: [x, "\${{ params.size }}"]
    env: { NOTE: "\${{ params.note }}" }
    cache: ${cache}
`;

  test('ignore: a variable that does not count changes nothing; what counts does', async () => {
    const first = await run(text('{ ignore: [NOTE] }'));
    const { rig } = first;
    expect(states(await run(text('{ ignore: [NOTE] }'), { rig, params: { note: 'other' } }))).toEqual(['a reused']);
    expect(states(await run(text('{ ignore: [NOTE] }'), { rig, params: { size: '2' } }))).toEqual(['a succeeded']);
    expect(rig.created()).toHaveLength(2);
  });

  test('key: takes the place of command and environment', async () => {
    const { rig } = await run(text('{ key: "v1" }'));
    expect(states(await run(text('{ key: "v1" }'), { rig, params: { size: '2' } }))).toEqual(['a reused']);
    expect(states(await run(text('{ key: "v2" }'), { rig }))).toEqual(['a succeeded']);
  });

  test('maxAge: an older success is not reused', async () => {
    const { rig } = await run(text('{ maxAge: 1h }'));
    expect(states(await run(text('{ maxAge: 1h }'), { rig }))).toEqual(['a reused']);
    await rig.go(new Promise<void>((resolve) => rig.clock.setTimer(rig.clock.now() + 2 * HOUR, resolve)));
    expect(states(await run(text('{ maxAge: 1h }'), { rig }))).toEqual(['a succeeded']);
  });
});

describe('foreach', () => {
  test('grows the graph by ten thousand cells, which all run once', async () => {
    const count = 10_000;
    const items = JSON.stringify(Array.from({ length: count }, (_, n) => n));
    const rig: Rig = createRig('foreach', {
      behave: {
        list: {
          work(container) {
            const key = Object.keys(container.volumeMounts ?? {}).find((mount) => mount.includes('_results'))!;
            const [volume = '', at = ''] = key.split(':');
            writeFile(rig.simulated.volumes.get(volume)!, `${at}/items`, Buffer.from(items));
          },
        },
      },
    });
    const ran = await run(
      `steps:
  list: { command: [x], results: { items: array } }
  each: { foreach: "\${{ steps.list.results.items }}", command: [x, "\${{ item }}"] }
  after: { command: [x], needs: [each] }
`,
      { rig },
    );
    expect([ran.report.status, states(ran)]).toEqual([
      'succeeded',
      ['list succeeded', 'each succeeded', 'after succeeded'],
    ]);
    expect(ran.report.steps[1]!.cells).toHaveLength(count);
    expect(new Set(rig.created().map(({ wire }) => wire.id)).size).toBe(count + 2);
    expect(order(ran).at(-1)).toBe('after');
  });
});

describe('labels', () => {
  test('labels: every container carries them, beside those that a run is found again by', async () => {
    const ran = await run('labels: { team: research }\nsteps: { a: { command: [x] }, b: { command: [x] } }');
    for (const { wire } of ran.rig.created()) {
      expect(wire.labels).toMatchObject({ team: 'research', 'sluice-attempt': '1' });
    }
    expect(ran.rig.created()).toHaveLength(2);
  });
});
