import { own } from '@sluice/core';
import type { JournalRecord } from '../records/journal-record.ts';
import type { RunFacts } from './run-facts.ts';

/** The end of the year 9999, in milliseconds since the Unix epoch: later times have no usual text. */
export const MAX_TIME = 253_402_300_799_999;
const MAX_ATTEMPT = 1_000_000_000;

/** The parts of a record or an event that are used as an index or shown as a time. */
interface Place {
  readonly at?: unknown;
  readonly step?: unknown;
  readonly cell?: unknown;
  readonly attempt?: unknown;
}

/**
 * Throws if a record names a step, a cell or an attempt that the run cannot have, or a time that is none. Every record passes
 * here before it is applied: an index such as `__proto__` would change the objects of the whole process.
 */
export function checkRecord(facts: RunFacts, record: JournalRecord): void {
  checkPlace(facts, record.kind, record as Place);
  if (record.kind === 'removed') checkOutput(facts, record);
  if (record.kind !== 'event') return;
  const { event } = record as { readonly event: unknown };
  if (typeof event !== 'object' || event === null) throw describe(record.kind, 'event', event);
  checkPlace(facts, `event ${(event as { readonly type?: unknown }).type}`, event as Place);
}

/** Only an output that the plan declares temporary can be removed. */
function checkOutput(
  { plan }: RunFacts,
  { kind, step, output }: Extract<JournalRecord, { readonly kind: 'removed' }>,
): void {
  const outputs = plan.steps[step]?.step.outputs;
  if (own(outputs, output)?.temporary !== true) throw describe(kind, 'temporary output', output);
}

function checkPlace(facts: RunFacts, kind: string, { at, step, cell, attempt }: Place): void {
  if (at !== undefined && !(typeof at === 'number' && at >= 0 && at <= MAX_TIME)) throw describe(kind, 'time', at);
  if (step === undefined) return;
  if (!isIndex(step, facts.plan.steps.length)) throw describe(kind, 'step', step);
  if (cell !== undefined && !isIndex(cell, facts.cells[step]?.length ?? 1)) throw describe(kind, 'cell', cell);
  if (attempt !== undefined && !isIndex(attempt, MAX_ATTEMPT)) throw describe(kind, 'attempt', attempt);
}

function isIndex(value: unknown, end: number): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) < end;
}

function describe(kind: string, what: string, value: unknown): Error {
  const shown = typeof value === 'object' ? 'of this kind' : JSON.stringify(value).slice(0, 100);
  return new Error(`could not apply a record (${kind}) to the run: it has no ${what} ${shown}`);
}
