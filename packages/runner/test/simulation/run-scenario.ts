import { createHash } from 'node:crypto';
import type { Container, ContainerSpec } from '@sluice/client';
import type { RunReport } from '@sluice/run';
import { createMemoryDisk } from '../../../home/test/memory-disk.ts';
import { createRandom } from '../../../run/test/random.ts';
import { createGroupChecker } from './check-groups.ts';
import { createPoolChecker } from './check-pools.ts';
import { writeList } from './check-programs.ts';
import { checkReplacements } from './check-replacements.ts';
import { createRunChecker } from './check-run.ts';
import { showsRunning } from './dialect.ts';
import { CALM, gateAt } from './faults.ts';
import { LONGEST_MS, liveRun, type RunnerUnderTest, type SimulatedRun, type World } from './live-run.ts';
import { sendRequests } from './requests.ts';
import { LATER_RUN, laterProgram, runAgain } from './run-again.ts';
import { FAR_CLUSTER, HOME_CLUSTER, planRun, type RunScript, type Scenario } from './scenario.ts';
import { createSimulatedClusters } from './simulated-clusters.ts';
import type { Behaviour, ServiceDeed, SimulatedService } from './simulated-service.ts';
import { createVirtualClock } from './virtual-clock.ts';

export interface ScenarioResult {
  readonly violations: readonly string[];
  /** Undefined for a run that was given up, since nothing of it was left to go on from. */
  readonly reports: readonly (RunReport | undefined)[];
  /** Digest of everything that the service saw and the journals hold. */
  readonly trace: string;
  readonly calls: ReadonlyMap<string, number>;
}

const FAULTS_MS = 20 * 60_000;
/** After the faults, and what was on its way then, too. */
const SETTLED_MS = FAULTS_MS + 10 * 60_000;
/** The largest run needs about a thousand: a runner that asks much more often does not adapt. */
const MAX_CALLS = 3_000;
/** What a clock that was set back two hours keeps waiting is looked at, a few containers every ten seconds each. */
const MAX_CALLS_PER_HOUR = 1_500;

/** Runs one scenario to its end in virtual time, and says everything that went against the laws. */
export async function runScenario(
  scenario: Scenario,
  runner: RunnerUnderTest,
  { longestMs = LONGEST_MS }: { readonly longestMs?: number } = {},
): Promise<ScenarioResult> {
  const hash = createHash('sha256');
  const onDeed = (deed: ServiceDeed) =>
    hash.update(
      deed.kind === 'asked' ? `${deed.at} ${deed.call} ${deed.id}\n` : `${deed.at} ${deed.kind} ${deed.id}\n`,
    );
  const world = createWorld(scenario, { runner, longestMs, onDeed });
  const { clock, disk, runs, service, violations } = world;
  let open = runs.length;
  const people = runs.map((run) => sendRequests(world, run));
  const lives = runs.map((run) =>
    liveRun(world, run)
      .catch((error: unknown) => {
        violations.push(`thrown: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
        return undefined;
      })
      .finally(() => open--),
  );
  let isFinished = false;
  const after = Promise.all(lives)
    .then(async ([report]) => {
      if (!scenario.isRunAgain || !report) return;
      await clock.delay(Math.max(0, world.begun + SETTLED_MS - clock.now()));
      await runAgain(world);
    })
    .finally(() => {
      isFinished = true;
    });
  try {
    await clock.runUntil(() => isFinished);
    await after;
  } catch (error) {
    violations.push((error as Error).message);
  }
  const reports = open === 0 ? await Promise.all(lives) : [];
  for (const report of reports) violations.push(...findMissingWarnings(scenario, report));
  for (const { check } of people) check();
  for (const run of runs) {
    for (const process of run.processes) process.kill();
  }
  checkReplacements(world);
  const total = [...service.calls.values()].reduce((sum, count) => sum + count, 0);
  const hours = (clock.now() - world.begun) / 3_600_000;
  if (total > MAX_CALLS * runs.length + MAX_CALLS_PER_HOUR * hours + callsOfSearches(runs))
    violations.push(`the service was asked ${total} times`);
  for (const { directory } of runs) hash.update(disk.files.get(`${directory}/journal.ndjson`) ?? '');
  return { violations, reports, trace: hash.digest('hex'), calls: service.calls };
}

/** Without a list that works, each container that the plan can have is asked for, on each cluster of the run. */
function callsOfSearches(runs: readonly SimulatedRun[]): number {
  const counts = runs.map(({ searches, decided, script }) => {
    const possible = decided.steps.map(
      ({ step, cells }) => (cells?.length ?? 0) * (1 + step.retry.limit + step.retry.infrastructure),
    );
    return searches * clustersOf([script]).length * possible.reduce((sum, count) => sum + count, 0);
  });
  return counts.reduce((sum, count) => sum + count, 0);
}

/** What people had to be warned of, once, and were not. */
function findMissingWarnings({ warns = [] }: Scenario, report: RunReport | undefined): string[] {
  return warns.flatMap((text) => {
    const count = (report?.warnings ?? []).filter(({ message }) => message.includes(text)).length;
    return count === 1 ? [] : [`the run warned ${count} times of: ${text}`];
  });
}

interface WorldOptions extends Pick<World, 'runner' | 'longestMs'> {
  readonly onDeed: (deed: ServiceDeed) => void;
}

function createWorld(scenario: Scenario, { runner, longestMs, onDeed }: WorldOptions): World {
  const clock = createVirtualClock();
  const disk = createMemoryDisk();
  const random = createRandom(`${scenario.seed}/world`);
  const begun = clock.now();
  const violations: string[] = [];
  disk.files.set('/home/credentials/home.json', Buffer.from(JSON.stringify({ format: 1, homeId: 'simulated' })));
  let faulty = true;
  clock.setTimer(begun + FAULTS_MS, () => {
    faulty = false;
  });
  const runs = scenario.runs.map((script, index): SimulatedRun => {
    const runId = `simulatedrun${String.fromCharCode(97 + index)}`;
    const plan = planRun(script, scenario);
    const decided = planRun(script, scenario, { isDecided: true });
    const directory = `/home/runs/${runId}`;
    const checker = createRunChecker({
      ...{ script, plan: decided, undecided: plan, runId, disk, clock, violations },
      simulated: () => service,
    });
    return { runId, directory, script, plan, decided, checker, processes: [], clients: [], isLost: false, searches: 0 };
  });
  const runOf = (id: string) => runs.find(({ runId }) => id.startsWith(`s${runId}-`));
  const pools = createPoolChecker(scenario.pools, runs, violations);
  const groups = scenario.group && createGroupChecker(scenario.group.limit, runs, violations);
  const service = createSimulatedClusters(clustersOf(scenario.runs), {
    clock,
    random: random.fork('service'),
    dialect: scenario.dialect,
    faults: () => (faulty ? scenario.faults : CALM),
    gate: () => (faulty ? gateAt(scenario.bursts, clock.now() - begun) : undefined),
    hints: scenario.hints,
    ...(scenario.quota !== undefined && { quota: scenario.quota }),
    features: scenario.comparesInputs ? [] : ['read-only-mounts'],
    behave: (spec) =>
      spec.labels?.['sluice-run'] === LATER_RUN
        ? { pendingMs: 20, runMs: 50, end: 'Succeeded', ...laterProgram(world) }
        : behave(scenario, { runs, simulated: () => service }, spec),
    onDeed(deed) {
      onDeed(deed);
      if (deed.id?.startsWith(`s${LATER_RUN}-`)) return;
      const run = deed.id === undefined ? undefined : runOf(deed.id);
      for (const { checker } of run ? [run] : runs) checker.onDeed(deed);
      if (deed.kind !== 'created') return;
      pools.onCreated(deed.id);
      groups?.onCreated(deed.id);
    },
  });
  disk.locksWork = !scenario.runs.some(({ mishaps }) => mishaps.some(({ kind }) => kind === 'second'));
  const world: World = { scenario, runner, clock, disk, service, random, begun, longestMs, runs, violations };
  return world;
}

function clustersOf(runs: readonly RunScript[]): string[] {
  const isPlaced = runs.some(({ steps }) => steps.some(({ clusters = [] }) => clusters.length > 0));
  return isPlaced ? [HOME_CLUSTER, FAR_CLUSTER] : [HOME_CLUSTER];
}

function behave(
  scenario: Scenario,
  { runs, simulated }: { readonly runs: readonly SimulatedRun[]; readonly simulated: () => SimulatedService },
  spec: ContainerSpec,
): Behaviour {
  const run = runs.find(({ runId }) => runId === spec.labels?.['sluice-run'])!;
  const script = findScript(run.script, spec);
  const attempt = Number(spec.labels?.['sluice-attempt']);
  const mustFail = script.fails?.includes(spec.labels?.['sluice-cell'] ?? '') === true;
  const ending = mustFail ? 'fail' : script.attempts[Math.min(attempt, script.attempts.length) - 1]!;
  const program = run.checker.program(script.spoils?.includes(attempt));
  const base = {
    pendingMs: script.pendingMs ?? 20,
    runMs: script.runMs,
    ...program,
    work(container: Container) {
      program.work(container);
      if (script.lists) writeList(script, container, simulated());
    },
  };
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
      return { ...base, ...(showsRunning(scenario.dialect) && { runMs: 10 * LONGEST_MS }), end: 'Succeeded' };
    case 'vanish':
      return { ...base, end: 'Succeeded', vanishes: true };
    case 'replaced':
      // Without labels, what is created soon after it under its ID cannot be told from it; by a list that writes times in
      // seconds, what is created within two seconds.
      return {
        ...base,
        runMs: Math.max(base.runMs, 8000),
        end: 'Succeeded',
        [scenario.dialect.hidesLabels ? 'vanishes' : 'replaced']: true,
      };
  }
}

function findScript({ steps }: RunScript, spec: ContainerSpec) {
  return steps.find(({ name }) => name === spec.labels?.['sluice-step'])!;
}
