import { ok, type Plan, type Result } from '@sluice/core';
import { type Disk, decodeLine, journalPath, parseJournal, RECEIVED_FILE } from '@sluice/home';
import type { JournalRecord, RunError, RunReport } from '@sluice/run';
import type { MemoryDisk } from '../../../home/test/memory-disk.ts';
import type { Random } from '../../../run/test/random.ts';
import { rejectServiceErrors } from '../../src/run/service-rejection.ts';
import type { RunHandle, RunnerOptions, StartRunOptions } from '../../src/session/run-options.ts';
import { createSystemNotifier } from '../../src/session/system-notifier.ts';
import type { RunChecker } from './check-run.ts';
import { HOME_CLUSTER, type Mishap, type RunScript, type Scenario } from './scenario.ts';
import { createProcess, type SimulatedProcess } from './simulated-process.ts';
import type { SimulatedService } from './simulated-service.ts';
import type { VirtualClock } from './virtual-clock.ts';

/** The functions of the runner that a scenario needs: the real ones, or those of a copy with a planted bug. */
export interface RunnerUnderTest {
  readonly startRun: typeof import('../../src/run/start-run.ts').startRun;
  readonly resumeRun: typeof import('../../src/run/resume-run.ts').resumeRun;
  readonly readRun: typeof import('@sluice/home').readRun;
  readonly adoptRun: typeof import('../../src/run/adopt-run.ts').adoptRun;
  readonly createRunFiles: typeof import('../../src/run/create-run-files.ts').createRunFiles;
  readonly provisionOrder: typeof import('../../src/run/provision-order.ts').provisionOrder;
  readonly approveRun: typeof import('../../src/run/approve-run.ts').approveRun;
  readonly suspendRun: typeof import('../../src/run/suspend-run.ts').suspendRun;
  readonly requestCancel: typeof import('../../src/run/cancel-run.ts').requestCancel;
}

/** One run of a world, with the processes that drive it one after the other. */
export interface SimulatedRun {
  readonly runId: string;
  readonly directory: string;
  readonly script: RunScript;
  readonly plan: Plan;
  /** With the cells of each `foreach`. */
  readonly decided: Plan;
  readonly checker: RunChecker;
  readonly processes: SimulatedProcess[];
  /** The processes that have sent requests. */
  readonly clients: SimulatedProcess[];
  /** Its journal is lost, and it is not adopted yet. */
  isLost: boolean;
  /** How often all its containers were queried: by an adoption, or by a resume without the journal's first record. */
  searches: number;
  /** Since when it is said that there is nothing to adopt, or that nothing can tell whether it has begun. */
  goneSince?: number | undefined;
  /** The last adoption or resume said so. */
  saysGone?: boolean;
  isFinished?: boolean;
}

export interface World {
  readonly scenario: Scenario;
  readonly runner: RunnerUnderTest;
  readonly clock: VirtualClock;
  readonly disk: MemoryDisk;
  readonly service: SimulatedService;
  readonly random: Random;
  readonly begun: number;
  /** How long a run may take. */
  readonly longestMs: number;
  readonly runs: readonly SimulatedRun[];
  readonly violations: string[];
}

/** How long a run may take, where a world does not say. */
export const LONGEST_MS = 3 * 24 * 3_600_000;
/** Of half a minute each: more than the faults and what is waited for after them take together. */
const MAX_LIVES = 120;
/** How long no process resumes a run that was left; the others must continue without it. */
const AWAY_MS = 2 * 3_600_000;
/** After this time, no earlier request is in flight. */
const SETTLED_MS = 10 * 60_000;

/** Life after life of a run's runners, until the run is over. Undefined: it was rightly given up. */
export async function liveRun(world: World, run: SimulatedRun): Promise<RunReport | undefined> {
  const { clock } = world;
  await clock.delay(run.script.startAfterMs ?? 0);
  try {
    const report = await live(world, run);
    if (report === 'lost') run.checker.giveUp();
    else if (report) run.checker.finish(report);
    else world.violations.push(`run ${run.runId} did not come to its end`);
    return report === 'lost' ? undefined : report;
  } finally {
    run.isFinished = true;
  }
}

async function live(world: World, run: SimulatedRun): Promise<RunReport | 'lost' | undefined> {
  const { clock, disk, random } = world;
  let canceled = false;
  for (let life = 0; life < MAX_LIVES; life++) {
    const mishap = run.script.mishaps[life];
    const seen = await liveOnce(world, run, {
      mishap,
      onHandle(handle) {
        if (run.script.cancelAfterMs === undefined || canceled) return;
        clock.setTimer(Math.max(clock.now(), world.begun + run.script.cancelAfterMs), () => {
          canceled = true;
          handle.cancel('a person');
        });
      },
    });
    if (seen && seen.status !== 'suspended') return seen;
    if (clock.now() - world.begun > world.longestMs) return undefined;
    if (run.saysGone && clock.now() - run.goneSince! > SETTLED_MS) return 'lost';
    disk.room = Number.POSITIVE_INFINITY;
    disk.failingSyncs = 0;
    if (mishap?.kind === 'leave') await awaitOthers(world, run);
    else await clock.delay(1000 + random.below(60_000));
  }
  return undefined;
}

/** The run is not executed until the others have ended, which must not wait for slots that were released. */
async function awaitOthers(world: World, run: SimulatedRun): Promise<void> {
  const { clock, runs } = world;
  const others = runs.filter(({ script }) => !script.mishaps.some(({ kind }) => kind === 'leave'));
  const until = clock.now() + AWAY_MS;
  while (clock.now() < until && others.some(({ isFinished }) => !isFinished)) await clock.delay(60_000);
  if (others.every(({ isFinished }) => isFinished)) return;
  await run.checker.checkLeftClaims();
}

interface Life {
  readonly mishap: Mishap | undefined;
  readonly onHandle: (handle: RunHandle) => void;
}

/** One life of the runner. Undefined: it died, or could not start. */
async function liveOnce(world: World, run: SimulatedRun, { mishap, onHandle }: Life): Promise<RunReport | undefined> {
  const { clock, disk } = world;
  const process = addProcess(world, run, mishap);
  const opened = await until(world, process, open(world, run, process));
  if (!opened) return undefined;
  if (!opened.ok) {
    if (opened.error.code !== 'RUN_FINISHED') return undefined;
    const read = await until(world, process, world.runner.readRun('/home', run.runId, disk));
    return read?.ok ? read.value : undefined;
  }
  const handle = opened.value;
  onHandle(handle);
  handle.finished.catch(() => {});
  if (mishap?.kind === 'suspend') clock.setTimer(clock.now() + mishap.afterMs, () => void handle.suspend());
  if (mishap?.kind === 'clockJump') clock.setTimer(clock.now() + mishap.afterMs, () => clock.jump(mishap.ms));
  if (mishap?.kind !== 'second') return until(world, process, handle.finished);
  let second: Promise<RunReport | undefined> | undefined;
  let isTaken = false;
  clock.setTimer(clock.now() + mishap.afterMs, () => {
    const other = addProcess(world, run, undefined);
    second = until(world, other, open(world, run, other)).then((taken) => {
      isTaken = taken?.ok ?? false;
      return taken?.ok ? until(world, other, taken.value.finished) : undefined;
    });
    second.catch(() => {});
  });
  const first = await until(world, process, handle.finished);
  if (first && first.status !== 'suspended') {
    if (isTaken) throw new Error('the older of two runners went on to the end');
    return first;
  }
  return second ? second : first;
}

/** Takes the intents at the end of a run's journal from it, so that nothing tells of them. False: there are none. */
function tearJournal({ disk }: World, run: SimulatedRun): boolean {
  const path = `${run.directory}/journal.ndjson`;
  const bytes = disk.files.get(path) ?? new Uint8Array();
  const torn: string[] = [];
  let epoch = 0;
  let size = bytes.length;
  for (let start = size; start > 0; ) {
    start = bytes.lastIndexOf(10, size - 2) + 1;
    const line = decodeLine(bytes.subarray(start, size - 1));
    if (line?.record.kind !== 'intent') break;
    torn.push(line.record.id);
    epoch = line.epoch;
    size = start;
  }
  if (torn.length === 0) return false;
  disk.files.set(path, bytes.slice(0, size));
  run.checker.tearJournal(torn, epoch);
  return true;
}

function addProcess(world: World, run: SimulatedRun, mishap: Mishap | undefined): SimulatedProcess {
  const { clock, disk, service, random, runs } = world;
  let creates = service.calls.get('create') ?? 0;
  /** Whether the operation that was just begun is a create. */
  const isCreate = (when: 'before' | 'after') => {
    const before = creates;
    creates = service.calls.get('create') ?? 0;
    return when === 'after' && creates > before;
  };
  const process = createProcess({
    clock,
    disk,
    service: service.service,
    onOperation(number, when) {
      if (mishap?.kind === 'tear') {
        if (isCreate(when) && number >= mishap.operation && tearJournal(world, run)) process.kill();
        return;
      }
      if (!mishap || !('operation' in mishap) || number !== mishap.operation) return;
      if (mishap.kind === 'diskFull' && when === 'before') disk.room = random.below(300);
      if (mishap.kind === 'syncFailure' && when === 'before') disk.failingSyncs = 1;
      if (!('before' in mishap) || (when === 'before') !== mishap.before) return;
      process.kill();
      if (mishap.kind === 'lose') loseJournal(world, run, mishap.whole);
      if (mishap.kind !== 'crash' || !mishap.machine) return;
      for (const other of runs) for (const one of [...other.processes, ...other.clients]) one.kill();
      clock.reboot();
      disk.crash((unsynced) => random.below(unsynced + 1));
    },
  });
  run.processes.push(process);
  return process;
}

function loseJournal({ disk }: World, run: SimulatedRun, whole: boolean): void {
  run.checker.loseJournal();
  for (const path of [...disk.files.keys()]) {
    if (path.startsWith(`${run.directory}/`) && (whole || path.endsWith('/journal.ndjson'))) disk.files.delete(path);
  }
  run.isLost = true;
}

/** The options with which a server executes a run that was ordered. */
const RESTRICTED: Pick<RunnerOptions, 'delivers' | 'notifier'> = { delivers: false, notifier: createSystemNotifier() };

type Opened = { readonly ok: true; readonly value: RunHandle } | { readonly ok: false; readonly error: RunError };

/** Starts the run, or resumes it where it has begun; one whose journal is lost is adopted before. */
async function open(world: World, run: SimulatedRun, process: SimulatedProcess): Promise<Opened> {
  const options: RunnerOptions & { disk: Disk; runId: string } = {
    service: process.service,
    home: '/home',
    clock: process.clock,
    disk: process.disk,
    runId: run.runId,
    ...(world.scenario.isServer && RESTRICTED),
  };
  const scope = { clusterID: HOME_CLUSTER, accountID: 'me' };
  const begin: StartRunOptions & { runId: string; disk: Disk } = {
    ...options,
    plan: run.plan,
    scope,
    baseDir: '/base',
  };
  if (run.isLost) {
    if (world.scenario.resumesLost && !isAdopted(world, run)) await resumeLost(world, run, options);
    run.searches++;
    const adopted = await world.runner.adoptRun(begin);
    const isGone = !adopted.ok && ['RUN_NOT_FOUND', 'NOT_ADOPTABLE'].includes(adopted.error.code);
    run.saysGone = isGone;
    if (isGone) run.goneSince ??= world.clock.now();
    if (!adopted.ok && adopted.error.code !== 'RUN_KNOWN') return adopted;
    run.isLost = false;
    run.goneSince = undefined;
  }
  const resume = () => world.runner.resumeRun(options);
  if (world.disk.files.has(`${run.directory}/plan.json`) && !hasRecord(world, run, 'run')) run.searches++;
  const resumed = await resume();
  run.saysGone = !resumed.ok && isUndecidable(world, run);
  if (run.saysGone) run.goneSince ??= world.clock.now();
  if (resumed.ok || resumed.error.code !== 'RUN_NOT_FOUND') return resumed;
  if (!world.disk.files.has(`${run.directory}/journal.ndjson`)) run.checker.beginAnew();
  if (!world.scenario.isServer) return world.runner.startRun(begin);
  const ordered = await orderRun(world, run, begin);
  return ordered.ok ? resume() : ordered;
}

/** Starts a run as a server does: it appears with all its files at once. */
function orderRun(
  { runner, disk }: World,
  { directory }: SimulatedRun,
  begin: StartRunOptions & { readonly runId: string; readonly disk: Disk },
): Promise<Result<undefined, RunError>> {
  return runner.provisionOrder(begin, ({ workspace, sources }) =>
    rejectServiceErrors(async () => {
      const data = { sources, ...(workspace && { workspaceId: workspace.volumeId }) };
      const created = await runner.createRunFiles({ ...begin, data });
      if (!created.ok) return created;
      // The process may be killed here, or find the disk full.
      await begin.disk.replace(`/home/staged/${begin.runId}`, created.value['journal.ndjson']);
      await begin.disk.remove(`/home/staged/${begin.runId}`);
      const json = (value: unknown) => Buffer.from(JSON.stringify(value));
      disk.files.set(`${directory}/${RECEIVED_FILE}`, json({}));
      disk.files.set(`${directory}/summary.json`, json(created.value.summary));
      for (const name of ['plan.json', 'journal.ndjson'] as const)
        disk.files.set(`${directory}/${name}`, created.value[name]);
      return ok(undefined);
    }),
  );
}

/** Whether an adoption whose reply was lost, or whose sync failed, has left a journal to go on from. */
function isAdopted(world: World, run: SimulatedRun): boolean {
  return hasRecord(world, run, 'adopted');
}

/**
 * Whether it cannot be known if the run has begun: its journal has no first record, and without a list, the containers of a
 * `foreach` or of a listed axis cannot be queried. Every resume must reject it (decision 0029).
 */
function isUndecidable(world: World, run: SimulatedRun): boolean {
  const hasUnknownCells = run.plan.steps.some(({ step, cells }) => cells === undefined || step.each?.includes('part'));
  return hasUnknownCells && world.scenario.dialect.list !== 'works' && !hasRecord(world, run, 'run');
}

function hasRecord({ disk }: World, { directory }: SimulatedRun, wanted: JournalRecord['kind']): boolean {
  const journal = parseJournal(disk.files.get(journalPath(directory)) ?? new Uint8Array());
  return journal.ok && journal.value.records.some(({ kind }) => kind === wanted);
}

/** To resume a run whose journal is lost must not deny what the service has of it. */
async function resumeLost(
  { runner, disk, service, clock, violations }: World,
  run: SimulatedRun,
  options: RunnerOptions & { runId: string },
): Promise<void> {
  if (!disk.files.has(`${run.directory}/plan.json`)) return;
  run.searches++;
  const there = [...service.containers.values()].filter(
    ({ wire, visibleAt, absent }) =>
      wire.labels?.['sluice-run'] === run.runId && visibleAt <= clock.now() && absent === undefined,
  );
  const resumed = await runner.resumeRun(options);
  const { code, message } = resumed.ok ? { code: 'none', message: '' } : resumed.error;
  const isTold =
    there.length === 0 ||
    message.includes('of its containers') ||
    (code === 'RUN_FINISHED' && there.every(({ live }) => !live));
  // Where the resume cannot be written down, nothing is said of the containers, and nothing is begun.
  const isDiskFull = code === 'HOME_UNUSABLE' && disk.room < Number.POSITIVE_INFINITY;
  const isRight = isTold || code.startsWith('SERVICE_') || code === 'LOGIN_REJECTED' || isDiskFull;
  if (!isRight)
    violations.push(`run ${run.runId} was resumed with ${code}, although it has ${there.length} containers`);
}

/** What comes of a promise, unless the process dies before or takes too long: then undefined. */
async function until<T>(
  { clock, longestMs }: World,
  process: SimulatedProcess,
  promise: Promise<T>,
): Promise<T | undefined> {
  let stop = () => {};
  const limit = new Promise<undefined>((resolve) => {
    stop = clock.setTimer(clock.now() + longestMs, () => resolve(undefined));
  });
  try {
    return await Promise.race([promise, process.died, limit]);
  } finally {
    stop();
  }
}
