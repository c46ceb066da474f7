import type { RunRecord } from './read-run-records.ts';

/** Which runs of a home may be removed. */
export interface GarbageRules {
  /** Runs that ended before this time may be removed; milliseconds since the Unix epoch. */
  readonly endedBefore: number;
  /** Only these may be removed. Default: all. */
  readonly only?: ReadonlySet<string>;
  /** Later runs are removed, too, oldest first, until all runs together have at most `max` bytes. */
  readonly size?: { readonly max: number; readonly of: (runId: string) => number };
  /** Runs with outputs that the cache index lists. */
  readonly cached: ReadonlySet<string>;
  /** Why a run on a server may need a run of the home. */
  readonly describeUseElsewhere: (run: RunRecord) => string | undefined;
}

/** All runs of a home, divided into those to remove and those to keep. */
export interface ChosenGarbage {
  /** Oldest first. */
  readonly remove: readonly RunRecord[];
  readonly keep: readonly { readonly run: RunRecord; readonly reason: string }[];
}

/**
 * Chooses the runs to remove: finished runs that are old (or too large together) or whose removal was interrupted, except
 * runs with a `retain: true` output and runs whose outputs a kept run reuses. While a run is in progress, all runs in the
 * cache index are kept, since that run may have read the index.
 */
export function chooseGarbage(records: readonly RunRecord[], rules: GarbageRules): ChosenGarbage {
  const reasons = new Map<string, string>();
  let total = rules.size ? records.reduce((sum, { runId }) => sum + rules.size!.of(runId), 0) : 0;
  const active = records.find(({ status }) => status === 'running');
  for (const run of records) {
    const reason = describeHold(run, { active, rules, isTooLarge: rules.size !== undefined && total > rules.size.max });
    if (reason === undefined) total -= rules.size?.of(run.runId) ?? 0;
    else reasons.set(run.runId, reason);
  }
  keepWhatIsNeeded(records, reasons);
  return {
    remove: records.filter(({ runId }) => !reasons.has(runId)),
    keep: records.flatMap((run) => (reasons.has(run.runId) ? [{ run, reason: reasons.get(run.runId)! }] : [])),
  };
}

function describeHold(
  run: RunRecord,
  given: { readonly active: RunRecord | undefined; readonly rules: GarbageRules; readonly isTooLarge: boolean },
): string | undefined {
  const { active, rules, isTooLarge } = given;
  if (rules.only?.has(run.runId) === false) return 'it is not to be removed';
  if (run.status === 'running') return 'it is in progress';
  if (run.status === 'waiting') return 'it waits for its concurrency group';
  if (run.status === 'suspended') return run.problem ?? 'it has not finished and can be resumed';
  if (run.retained !== undefined) return `its output ${run.retained} is to be retained`;
  const isContinued = run.isCollecting === true;
  if (run.endedAt === undefined || (run.endedAt >= rules.endedBefore && !isTooLarge && !isContinued))
    return 'it is too recent';
  if (active && rules.cached.has(run.runId)) return `run ${active.runId} is in progress and may reuse its outputs`;
  return rules.describeUseElsewhere(run);
}

/** Keeps the runs whose outputs a kept run reuses. */
function keepWhatIsNeeded(records: readonly RunRecord[], reasons: Map<string, string>): void {
  const byId = new Map(records.map((record) => [record.runId, record]));
  const open = [...reasons.keys()];
  for (let runId = open.pop(); runId !== undefined; runId = open.pop()) {
    const needs = byId.get(runId)!.needs;
    // If its needs are unknown, all runs are kept.
    const needed = needs?.runs ?? new Set(byId.keys());
    for (const other of needed) {
      if (!byId.has(other) || reasons.has(other)) continue;
      reasons.set(other, describeNeed(runId, needs !== undefined));
      open.push(other);
    }
  }
}

function describeNeed(runId: string, isKnown: boolean): string {
  return isKnown ? `run ${runId} reuses its outputs` : `run ${runId}, whose journal cannot be read, may need it`;
}
