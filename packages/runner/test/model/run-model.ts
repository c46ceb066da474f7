import { mkdir, mkdtemp, readdir, readFile, rm, writeFile as writeLocal } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createPlan, type Json, type Plan, parsePipeline } from '@sluice/core';
import type { Reporter, RunReport } from '@sluice/run';
import { createMemoryDisk } from '../../../home/test/memory-disk.ts';
import { createRandom } from '../../../run/test/random.ts';
import { OWN_DIALECT } from '../simulation/dialect.ts';
import { CALM } from '../simulation/faults.ts';
import { createSimulatedClusters } from '../simulation/simulated-clusters.ts';
import { createVirtualClock, runUntilSettled } from '../simulation/virtual-clock.ts';
import { drawRuns } from './draw-runs.ts';
import { createExecutor } from './execute-container.ts';
import { findCertainHits } from './find-certain-hits.ts';
import { type Expected, interpretFile } from './interpret-file.ts';
import { FAR, HOME, type ModelRun, type Tree } from './model-file.ts';
import { sortFields } from './program.ts';

/** The functions of the runner that the model test calls: the real ones, or those of a copy with a planted bug. */
export interface ModelSubject {
  readonly startRun: typeof import('../../src/run/start-run.ts').startRun;
  readonly resumeRun: typeof import('../../src/run/resume-run.ts').resumeRun;
  readonly pullOutput: typeof import('../../src/data/pull-output.ts').pullOutput;
  readonly collectGarbage: typeof import('../../src/gc/collect-garbage.ts').collectGarbage;
}

export interface ModelResult {
  /** Where the runner and the plain interpreter do not agree. */
  readonly differences: readonly string[];
  readonly runs: number;
  /** Cells that were reused, so that a test can tell that there was something to get wrong. */
  readonly reused: number;
  readonly delivered: number;
}

const DAY = 86_400_000;

/** Runs everything that a seed draws, one run after the other in one home, and compares each with the interpreter. */
export async function runModel(seed: string, subject: ModelSubject): Promise<ModelResult> {
  const base = await mkdtemp(path.join(tmpdir(), 'sluice-model-'));
  try {
    return await runAll(seed, { subject, base });
  } finally {
    await rm(base, { recursive: true, force: true });
  }
}

interface Past {
  readonly run: ModelRun;
  readonly runId: string;
  readonly expected: Expected;
  readonly report: RunReport;
}

async function runAll(seed: string, { subject, base }: { subject: ModelSubject; base: string }): Promise<ModelResult> {
  const differences: string[] = [];
  const random = createRandom(`${seed}/world`);
  const clock = createVirtualClock({ awaitsFiles: true });
  const disk = createMemoryDisk();
  const executor = createExecutor(() => simulated);
  const simulated = createSimulatedClusters([HOME, FAR], {
    clock,
    random,
    dialect: OWN_DIALECT,
    faults: () => CALM,
    hints: true,
    behave: () => ({ pendingMs: 20, runMs: 100, end: 'Succeeded', endOf: executor.execute }),
  });
  let isDelivering = false;
  const reporter: Reporter = {
    report(event) {
      if (event.type === 'transfer' && event.direction === 'download') isDelivering = true;
    },
  };
  const options = { service: simulated.service, home: '/home', clock, disk, reporter };
  const past: (Past | undefined)[] = [];
  let [reused, delivered] = [0, 0];

  const go = <T>(promise: Promise<T>) => runUntilSettled(clock, promise);

  async function play(run: ModelRun): Promise<RunReport> {
    const plan = planOf(run);
    const scope = { clusterID: run.clusterID, accountID: 'me' };
    const earlier = run.reuse && past[run.reuse.of];
    const reuse = earlier && run.reuse ? { reuse: { runId: earlier.runId, from: run.reuse.from } } : {};
    let started = await go(subject.startRun({ ...options, plan, scope, baseDir: base, ...reuse }));
    // Its run may have been collected.
    if (!started.ok && earlier) started = await go(subject.startRun({ ...options, plan, scope, baseDir: base }));
    if (!started.ok) throw new Error(`${started.error.code}: ${started.error.message}`);
    if (run.leaveAfterMs === undefined) return go(started.value.finished);
    isDelivering = false;
    await go(clock.delay(run.leaveAfterMs));
    // A process that leaves is gone; one that writes local files could not be told from the next one here.
    if (isDelivering) return go(started.value.finished);
    await go(started.value.suspend());
    const report = await go(started.value.finished);
    if (report.status !== 'suspended') return report;
    const resumed = await go(subject.resumeRun({ ...options, runId: started.value.runId }));
    if (!resumed.ok) throw new Error(`${resumed.error.code}: ${resumed.error.message}`);
    return go(resumed.value.finished);
  }

  async function comparePull(index: number, output: string | undefined): Promise<void> {
    if (output === undefined) return;
    const { runId, expected } = past[index]!;
    const to = path.join(base, 'pulled');
    await rm(to, { recursive: true, force: true });
    const pulled = await go(subject.pullOutput({ ...options, runId, output, to }));
    // A run that was collected cannot be pulled from any more; another must not have lost anything by that.
    if (!pulled.ok && pulled.error.code === 'RUN_NOT_FOUND') return;
    const wanted = expected.delivered.get(output);
    if (!pulled.ok && wanted) differences.push(`pull ${output} of run ${index}: ${pulled.error.message}`);
    if (pulled.ok) compareTrees(`pull ${output} of run ${index}`, await readTree(to), wanted ?? new Map());
  }

  function compareTrees(what: string, found: Tree, wanted: Tree): void {
    for (const file of new Set([...found.keys(), ...wanted.keys()])) {
      if (found.get(file) === wanted.get(file)) continue;
      differences.push(
        `${what}: ${file} is ${found.get(file) ?? 'missing'} instead of ${wanted.get(file) ?? 'absent'}`,
      );
    }
  }

  function compareSteps(index: number, report: RunReport, expected: Expected): void {
    for (const { step: name, cells } of report.steps) {
      const wanted = expected.steps.get(name)!;
      const found = cells.map((cell) => [cell.cell, cell.status, cell.results]);
      const right = wanted.cells.map(({ key, ending, made }) => [key, ending, made?.results ?? {}]);
      const [a, b] = [JSON.stringify(found), JSON.stringify(right)];
      if (a !== b) differences.push(`run ${index}, step ${name}: ${a} instead of ${b}`);
    }
  }

  for (const [index, run] of drawRuns(seed).entries()) {
    if (run.collectsGarbage) {
      const later = { ...clock, now: () => clock.now() + DAY };
      await go(subject.collectGarbage({ ...options, clock: later, olderThanMs: 0 }));
    }
    await writeWorld(base, run);
    executor.begin(run);
    const report = await play(run);
    const expected = interpretFile(run, executor.hasRun);
    compareSteps(index, report, expected);
    for (const [name, { from, publish }] of Object.entries(run.file.outputs)) {
      const tree = await readTree(path.resolve(base, publish));
      delivered += tree.size;
      compareTrees(`run ${index} publishes ${from}`, tree, expected.delivered.get(name) ?? new Map());
    }
    const before = past.findLast((one) => one?.run.file.name === run.file.name);
    for (const missed of findCertainHits(before, { run, report, expected })) {
      differences.push(`run ${index} did the work of ${missed} again`);
    }
    past.push({ run, runId: report.runId, expected, report });
    reused += report.steps.flatMap(({ cells }) => cells).filter(({ reused }) => reused).length;
    const other = random.below(past.length);
    for (const at of new Set([index, other]))
      await comparePull(at, random.pick(Object.keys(past[at]!.run.file.outputs)));
    if (differences.length > 0) break;
  }
  return { differences, runs: past.length, reused, delivered };
}

function planOf(run: ModelRun): Plan {
  const parsed = parsePipeline({ file: 'p.json', text: JSON.stringify(run.file) });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.error));
  const plan = createPlan(parsed.value.pipeline, { params: run.params });
  if (!plan.ok) throw new Error(JSON.stringify(plan.error));
  return plan.value;
}

/** The local side of a run: its source, and nothing that earlier runs have published. */
async function writeWorld(base: string, { source }: ModelRun): Promise<void> {
  await rm(path.join(base, 'published'), { recursive: true, force: true });
  await rm(path.join(base, 'raw'), { recursive: true, force: true });
  for (const [file, text] of Object.entries(source)) {
    const local = path.join(base, 'raw', file);
    await mkdir(path.dirname(local), { recursive: true });
    await writeLocal(local, text);
  }
}

/** Every file beneath a local directory but the runner's own; a manifest by its content. */
async function readTree(directory: string): Promise<Tree> {
  const found = new Map<string, string>();
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    if (!entry.isFile() || entry.name.startsWith('.sluice')) continue;
    const file = path.join(entry.parentPath, entry.name);
    const text = await readFile(file, 'utf8');
    const isManifest = entry.name === 'manifest.json';
    found.set(path.relative(directory, file), isManifest ? JSON.stringify(sortFields(JSON.parse(text) as Json)) : text);
  }
  return found;
}
