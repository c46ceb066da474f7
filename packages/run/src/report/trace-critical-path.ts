import { isMatched, type PlannedDependency } from '@sluice/core';
import { cellsMeant } from '../facts/listed-cells.ts';
import type { RunFacts } from '../facts/run-facts.ts';
import type { RunTimes } from './cell-times.ts';

/** A cell by its indexes. */
export interface CellPlace {
  readonly step: number;
  readonly cell: number;
}

/** A cell of the chain that determines the duration of a run. */
export interface TracedCell extends CellPlace {
  readonly readyAt: number;
  /** When the next cell of the chain no longer waited for it: its end, or earlier for a service. */
  readonly until: number;
}

/** A run with the times of its cells. */
interface Trace {
  readonly facts: RunFacts;
  readonly times: RunTimes;
}

/** The cell that ended last: of a service only if there is no other, since a service ends after those that use it. */
export function findLastCell({ facts, times }: Trace): CellPlace | undefined {
  const all = facts.plan.steps.map(({ index }) => index);
  const others = all.filter((index) => !isService(facts, index));
  return latest(times, others) ?? latest(times, all);
}

/** From a cell back through the dependency that ended last, and so on. In order of time. */
export function traceCriticalPath(trace: Trace, last: CellPlace & { readonly until: number }): TracedCell[] {
  const path: TracedCell[] = [];
  const seen = new Set<number>();
  let at: (CellPlace & { readonly until: number }) | undefined = last;
  while (at !== undefined && !seen.has(at.step)) {
    seen.add(at.step);
    const { readyAt } = trace.times.of(at.step, at.cell);
    if (readyAt === undefined) break;
    path.unshift({ ...at, readyAt });
    at = findBefore(trace, { ...at, readyAt }, new Set([at.step]));
  }
  return path;
}

type Released = CellPlace & { readonly until: number };

/** The cell for which this one waited longest. Steps that were skipped stand for what they depend on. */
function findBefore(
  trace: Trace,
  reader: CellPlace & { readonly readyAt: number },
  visited: Set<number>,
): Released | undefined {
  const { facts } = trace;
  const planned = facts.plan.steps[reader.step]!;
  const mains = planned.final ? facts.plan.steps.filter(({ final }) => !final) : [];
  const sources: readonly PlannedSource[] = [...planned.dependencies, ...mains.map(({ index }) => ({ on: index }))];
  let found: Released | undefined;
  for (const source of sources) {
    if (visited.has(source.on)) continue;
    const before = findReleased(trace, reader, source) ?? findBehindSkipped(trace, { reader, on: source.on, visited });
    if (before !== undefined && (found === undefined || before.until > found.until)) found = before;
  }
  return found;
}

type PlannedSource = { readonly on: number } & Partial<PlannedDependency>;

/** The cell of a source whose end the reader waited for last; of a service, its start. */
function findReleased(
  { facts, times }: Trace,
  { step, cell, readyAt }: CellPlace & { readonly readyAt: number },
  source: PlannedSource,
): Released | undefined {
  const { on } = source;
  const isOne = source.condition !== undefined && isMatched(facts.plan.steps[step]!, facts.plan.steps[on]!);
  const meant = isOne ? cellsMeant(facts, { step, cell }, source as PlannedDependency) : undefined;
  let found: Released | undefined;
  for (const one of meant ?? times.cells(on)) {
    const { endedAt = Infinity } = times.of(on, one);
    const ranAt = facts.known[on]?.[one]?.attempts[0]?.runningAt ?? Infinity;
    const until = endedAt <= readyAt ? endedAt : ranAt;
    if (until > readyAt || until <= (found?.until ?? -1)) continue;
    found = { step: on, cell: one, until };
  }
  if (found === undefined) return undefined;
  // What a service did until it was ready is between its start and the next cell.
  return times.of(on, found.cell).endedAt === found.until ? found : { ...found, until: readyAt };
}

function findBehindSkipped(
  trace: Trace,
  given: { readonly reader: { readonly readyAt: number }; readonly on: number; readonly visited: Set<number> },
): Released | undefined {
  const { reader, on, visited } = given;
  if (trace.times.endedAt(on) !== undefined) return undefined;
  visited.add(on);
  return findBefore(trace, { step: on, cell: 0, readyAt: reader.readyAt }, visited);
}

function isService(facts: RunFacts, step: number): boolean {
  return facts.plan.steps[step]!.step.service !== undefined;
}

function latest(times: RunTimes, steps: readonly number[]): CellPlace | undefined {
  let found: { readonly step: number; readonly endedAt: number } | undefined;
  for (const step of steps) {
    const endedAt = times.endedAt(step);
    if (endedAt !== undefined && (found === undefined || endedAt > found.endedAt)) found = { step, endedAt };
  }
  if (found === undefined) return undefined;
  const { step, endedAt } = found;
  for (const cell of times.cells(step)) if (times.of(step, cell).endedAt === endedAt) return { step, cell };
  return undefined;
}
