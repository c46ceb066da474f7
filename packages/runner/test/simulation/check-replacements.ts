import { createEvidenceReader } from './journal-evidence.ts';
import type { SimulatedRun, World } from './live-run.ts';

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

function readRecords({ disk }: World, { directory }: SimulatedRun) {
  return createEvidenceReader(disk, `${directory}/journal.ndjson`)().records;
}
