import { createHash } from 'node:crypto';
import type { ContainerSpec } from '@sluice/client';
import type { RunHandle, RunnerOptions, RunRefusal } from '../../src/run/run-options.ts';
import type { RunReport } from '../../src/run/run-report.ts';
import { type CheckerOptions, createRunChecker, type RunChecker } from './check-run.ts';
import { CALM, gateAt } from './faults.ts';
import { createMemoryDisk, type MemoryDisk } from './memory-disk.ts';
import { createRandom, type Random } from './random.ts';
import { type Mishap, planScenario, type Scenario } from './scenario.ts';
import { createProcess, type SimulatedProcess } from './simulated-process.ts';
import { type Behaviour, createSimulatedService, type ServiceDeed } from './simulated-service.ts';
import { createVirtualClock, type VirtualClock } from './virtual-clock.ts';

/** The functions of the runner that a scenario needs: the real ones, or those of a copy with a planted bug. */
export interface RunnerUnderTest {
  readonly startRun: typeof import('../../src/run/start-run.ts').startRun;
  readonly resumeRun: typeof import('../../src/run/resume-run.ts').resumeRun;
  readonly readRun: typeof import('../../src/run/read-run.ts').readRun;
}

export interface ScenarioResult {
  readonly violations: readonly string[];
  readonly report: RunReport | undefined;
  /** Digest of everything that the service saw and the journal holds. */
  readonly trace: string;
  readonly calls: ReadonlyMap<string, number>;
}

const RUN_ID = 'simulatedruna';
const FAULTS_MS = 20 * 60_000;
const LONGEST_MS = 3 * 24 * 3_600_000;
const MAX_LIVES = 60;
/** The largest scenarios need about a thousand: a runner that asks much more often does not adapt. */
const MAX_CALLS = 3_000;

interface World {
  readonly scenario: Scenario;
  readonly runner: RunnerUnderTest;
  readonly clock: VirtualClock;
  readonly disk: MemoryDisk;
  readonly service: ReturnType<typeof createSimulatedService>;
  readonly checker: RunChecker;
  readonly random: Random;
  readonly begun: number;
  readonly plan: ReturnType<typeof planScenario>;
  readonly processes: SimulatedProcess[];
}

/** Runs one scenario to its end in virtual time, and says everything that went against the laws. */
export async function runScenario(scenario: Scenario, runner: RunnerUnderTest): Promise<ScenarioResult> {
  const hash = createHash('sha256');
  const world = createWorld(scenario, runner, (deed) =>
    hash.update(
      deed.kind === 'asked' ? `${deed.at} ${deed.call} ${deed.id}\n` : `${deed.at} ${deed.kind} ${deed.id}\n`,
    ),
  );
  const { checker, disk, service } = world;
  const thrown: string[] = [];
  let report: RunReport | undefined;
  try {
    report = await live(world);
    if (report) checker.finish(report);
    else thrown.push('the run did not come to its end');
  } catch (error) {
    thrown.push(`thrown: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  }
  for (const process of world.processes) process.kill();
  const total = [...service.calls.values()].reduce((sum, count) => sum + count, 0);
  if (total > MAX_CALLS) thrown.push(`the service was asked ${total} times`);
  hash.update(disk.files.get(`/home/runs/${RUN_ID}/journal.ndjson`) ?? '');
  return { violations: [...checker.violations, ...thrown], report, trace: hash.digest('hex'), calls: service.calls };
}

function createWorld(scenario: Scenario, runner: RunnerUnderTest, onDeed: (deed: ServiceDeed) => void): World {
  const clock = createVirtualClock();
  const disk = createMemoryDisk();
  const random = createRandom(`${scenario.seed}/world`);
  const plan = planScenario(scenario);
  const begun = clock.now();
  const options: CheckerOptions = { scenario, plan, runId: RUN_ID, disk, simulated: () => service };
  const checker = createRunChecker(options);
  const credentials = { format: 1, homeId: 'simulated', workspaces: {} };
  disk.files.set('/home/credentials.json', Buffer.from(JSON.stringify(credentials)));
  let faulty = true;
  clock.setTimer(begun + FAULTS_MS, () => {
    faulty = false;
  });
  const service = createSimulatedService({
    clock,
    random: random.fork('service'),
    dialect: scenario.dialect,
    faults: () => (faulty ? scenario.faults : CALM),
    gate: () => (faulty ? gateAt(scenario.bursts, clock.now() - begun) : undefined),
    hints: scenario.hints,
    ...(scenario.quota !== undefined && { quota: scenario.quota }),
    behave: (spec) => behave(scenario, checker, spec),
    onDeed: (deed) => {
      onDeed(deed);
      checker.onDeed(deed);
    },
  });
  disk.locksWork = !scenario.mishaps.some((mishap) => mishap.kind === 'second');
  return { scenario, runner, clock, disk, service, checker, random, begun, plan, processes: [] };
}

function behave(scenario: Scenario, checker: RunChecker, spec: ContainerSpec): Behaviour {
  const script = scenario.steps.find(({ name }) => name === spec.labels?.['sluice-step'])!;
  const attempt = Number(spec.labels?.['sluice-attempt']);
  const ending = script.attempts[Math.min(attempt, script.attempts.length) - 1]!;
  const base = { pendingMs: 20, runMs: script.runMs, work: checker.work };
  switch (ending) {
    case 'succeed':
      return { ...base, end: 'Succeeded' };
    case 'fail':
      return { ...base, end: 'Failed', exitCode: 1 };
    case 'oom':
      return { ...base, end: 'Failed', exitCode: 137, outOfMemory: true };
    case 'break':
      return { ...base, end: 'Unknown' };
    case 'hang':
      // A timeout counts from Running; where that is never shown, what hangs would hang for ever.
      return { ...base, ...(!scenario.dialect.hidesRunning && { runMs: 10 * LONGEST_MS }), end: 'Succeeded' };
    case 'vanish':
      return { ...base, end: 'Succeeded', vanishes: true };
    case 'replaced':
      return { ...base, end: 'Succeeded', replaced: true };
  }
}

/** Life after life of the runner, until the run is over. */
async function live(world: World): Promise<RunReport | undefined> {
  const { clock, disk, scenario } = world;
  let canceled = false;
  for (let life = 0; life < MAX_LIVES; life++) {
    const mishap = scenario.mishaps[life];
    const run = await liveOnce(world, mishap, (handle) => {
      if (scenario.cancelAfterMs === undefined || canceled) return;
      const at = Math.max(clock.now(), world.begun + scenario.cancelAfterMs);
      clock.setTimer(at, () => {
        canceled = true;
        handle.cancel('a person');
      });
    });
    if (run && run.status !== 'suspended') return run;
    if (clock.now() - world.begun > LONGEST_MS) return undefined;
    disk.room = Number.POSITIVE_INFINITY;
    disk.failingSyncs = 0;
    let rested = false;
    void clock.delay(1000 + world.random.below(60_000)).then(() => {
      rested = true;
    });
    await clock.runUntil(() => rested);
  }
  return undefined;
}

/** One life of the runner. Undefined: it died, or could not start. */
async function liveOnce(
  world: World,
  mishap: Mishap | undefined,
  onHandle: (handle: RunHandle) => void,
): Promise<RunReport | undefined> {
  const { clock, disk } = world;
  const process = addProcess(world, mishap);
  const opened = await until(world, process, open(world, process));
  if (!opened) return undefined;
  if (!opened.ok) {
    if (opened.error.code !== 'RUN_FINISHED') return undefined;
    const read = await until(world, process, world.runner.readRun('/home', RUN_ID, disk));
    return read?.ok ? read.value : undefined;
  }
  const handle = opened.value;
  onHandle(handle);
  handle.finished.catch(() => {});
  if (mishap?.kind === 'detach') clock.setTimer(clock.now() + mishap.afterMs, () => void handle.detach());
  if (mishap?.kind === 'clockJump') clock.setTimer(clock.now() + mishap.afterMs, () => process.jump(mishap.ms));
  if (mishap?.kind !== 'second') return until(world, process, handle.finished);
  let second: Promise<RunReport | undefined> | undefined;
  let isTaken = false;
  clock.setTimer(clock.now() + mishap.afterMs, () => {
    const other = addProcess(world, undefined);
    second = open(world, other).then((taken) => {
      isTaken = taken.ok;
      return taken.ok ? taken.value.finished : undefined;
    });
    second.catch(() => {});
  });
  const first = await until(world, process, handle.finished);
  if (first && first.status !== 'suspended') {
    if (isTaken) throw new Error('the older of two runners went on to the end');
    return first;
  }
  return second ? until(world, process, second) : first;
}

function addProcess(world: World, mishap: Mishap | undefined): SimulatedProcess {
  const { clock, disk, service, random } = world;
  const process = createProcess({
    clock,
    disk,
    service: service.service,
    onOperation(number, when) {
      if (!mishap || !('operation' in mishap) || number !== mishap.operation) return;
      if (mishap.kind === 'diskFull' && when === 'before') disk.room = random.below(300);
      if (mishap.kind === 'syncFailure' && when === 'before') disk.failingSyncs = 1;
      if (mishap.kind !== 'crash' || (when === 'before') !== mishap.before) return;
      process.kill();
      if (mishap.machine) disk.crash((unsynced) => random.below(unsynced + 1));
    },
  });
  world.processes.push(process);
  return process;
}

type Opened = { readonly ok: true; readonly value: RunHandle } | { readonly ok: false; readonly error: RunRefusal };

/** Starts the run, or resumes it where it has begun. */
async function open(world: World, process: SimulatedProcess): Promise<Opened> {
  const options: RunnerOptions & { runId: string } = {
    service: process.service,
    home: '/home',
    clock: process.clock,
    disk: process.disk,
    runId: RUN_ID,
  };
  const resumed = await world.runner.resumeRun(options);
  if (resumed.ok || resumed.error.code !== 'RUN_NOT_FOUND') return resumed;
  const scope = { clusterID: 'sim', accountID: 'me' };
  return world.runner.startRun({ ...options, plan: world.plan, scope, baseDir: '/base' });
}

/** Moves time on until the promise settles or the process dies: then undefined. */
async function until<T>(world: World, process: SimulatedProcess, promise: Promise<T>): Promise<T | undefined> {
  let settled: { readonly value?: T; readonly error?: unknown } | undefined;
  promise.then(
    (value) => {
      settled = { value };
    },
    (error: unknown) => {
      settled = { error };
    },
  );
  const begun = world.clock.now();
  await world.clock.runUntil(() => settled !== undefined || !process.alive || world.clock.now() - begun > LONGEST_MS);
  if (settled && 'error' in settled) throw settled.error;
  return settled?.value;
}
