import { RELEASED_FILE } from '@sluice/home';
import { createEvidenceReader } from './journal-evidence.ts';
import type { SimulatedRun, World } from './live-run.ts';
import type { ServiceDeed } from './simulated-service.ts';

const REPEATED_MS = 5_000;

/** Releases a run as its owner requests it: writes the mark first, then has the process that executes the run leave it. */
export async function releaseRun(world: World, run: SimulatedRun): Promise<void> {
  const { clock, disk, runner } = world;
  const { directory, runId, script } = run;
  if (script.releaseAfterMs === undefined) return;
  await clock.delay(script.releaseAfterMs);
  const mark = Buffer.from('{}\n');
  // A run whose files were not received yet is not released.
  while (!disk.files.has(`${directory}/journal.ndjson`) || disk.room < mark.length) {
    if (run.isFinished) return;
    await clock.delay(REPEATED_MS);
  }
  if (run.isFinished) return;
  await disk.replace(`${directory}/${RELEASED_FILE}`, mark);
  run.isReleasing = true;
  // The owner repeats the request until it is carried out.
  while (!(await runner.detachRun({ home: '/home', runId, disk, clock })).ok) await clock.delay(REPEATED_MS);
  run.released = { records: countRecords(world, run) };
}

/** Checks that no process executes or changes a released run. */
export function checkReleasedDeed(run: SimulatedRun, deed: ServiceDeed, violations: string[]): void {
  if (run.released === undefined || deed.kind !== 'asked') return;
  if (['create', 'cancel', 'delete'].includes(deed.call)) {
    violations.push(`${deed.call} of ${deed.id}, although run ${run.runId} was released`);
  }
}

/** Checks at the end of a world that the journal of a released run has not changed. */
export function checkReleased(world: World, run: SimulatedRun): void {
  const { released, runId } = run;
  const records = countRecords(world, run);
  if (released === undefined || records === released.records) return;
  world.violations.push(`run ${runId} had ${released.records} records when it was released, and has ${records}`);
}

/** Checks that runs of a group were only replaced by later ones. Not checked if the clock, which decides this, was set. */
export function checkReplacements(world: World): void {
  if (world.scenario.runs.some(({ mishaps }) => mishaps.some(({ kind }) => kind === 'clockJump'))) return;
  const started = new Map(world.runs.map((run) => [run.runId, startOf(world, run)]));
  for (const run of world.runs) {
    for (const record of readRecords(world, run)) {
      if (record.kind !== 'event' || record.event.type !== 'cancelRequested') continue;
      const by = /^run (\S+) of group /.exec(record.event.by)?.[1];
      const [own, other] = [started.get(run.runId), by && started.get(by)];
      if (own === undefined || !other || other >= own) continue;
      world.violations.push(`run ${run.runId} was replaced by run ${by}, which started before it`);
    }
  }
}

function startOf(world: World, run: SimulatedRun): number | undefined {
  const header = readRecords(world, run).find(({ kind }) => kind === 'run');
  return header?.kind === 'run' ? header.at : undefined;
}

function countRecords(world: World, run: SimulatedRun): number {
  return readRecords(world, run).length;
}

function readRecords({ disk }: World, { directory }: SimulatedRun) {
  return createEvidenceReader(disk, `${directory}/journal.ndjson`)().records;
}
