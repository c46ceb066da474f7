import { type Fingerprint, findSharedRead, isMatched, type Result } from '@sluice/core';
import { type ContextSource, cellsInOrder, cellsMeant, FAILED_STATES, isFannedOut } from '@sluice/run';
import { digestCell } from './digest-cell.ts';
import { hashText } from './hash-text.ts';

/** What a step passes on to the steps after it about the work up to its end. */
export interface Lineage {
  /** A step that was executed in this run: this one, or one before it if this one does no work of its own. */
  readonly worked?: number;
  /** Equal digests mean that the same attempts came before. */
  readonly digest: string;
}

/** Gives the lineage of a step, or of one cell of a step with `each`. */
export type LineageOf = (step: number, cell?: number) => Lineage;

/** A step, or one cell of a step with `each`. */
interface Place {
  readonly step: number;
  readonly cell?: number;
}

/**
 * Creates a function that gives the lineage of a step or a cell whose dependents can start. What did work, in this run or
 * in the one that is reused, is its own lineage. All others pass on that of what came before them: approvals, skipped
 * steps and steps without cells, and services, which add the identity of their program. Each place is visited once.
 */
export function createLineage(
  run: ContextSource,
  fingerprint: (step: number, cell: number) => Result<Fingerprint, unknown>,
): LineageOf {
  const { plan, scheduler } = run;
  const known = new Map<number, Lineage>();
  const idOf = ({ step, cell }: Place): number => (cell === undefined ? step : (cell + 1) * plan.steps.length + step);
  const cellsAt = (place: Place) => cellsOf(run, place);

  function hasWork(place: Place): boolean {
    const { service, approval } = plan.steps[place.step]!.step;
    if (service !== undefined || approval !== undefined) return false;
    return cellsAt(place).some((cell) => scheduler.state(place.step, cell) !== 'skipped');
  }

  function describeWork(place: Place): Lineage {
    const { step } = place;
    const worked = cellsAt(place).some((cell) => isNew(run, step, cell));
    return { digest: digestPlace(run, place), ...(worked && { worked: step }) };
  }

  function passOn(place: Place): Lineage {
    const { step, cell } = place;
    const { step: spec } = plan.steps[step]!;
    const before = placesBefore(run, step, cell).map((one) => known.get(idOf(one))!);
    const isServing = spec.service !== undefined && scheduler.state(step, cell) !== 'skipped';
    const program = isServing ? describeService(run, place, fingerprint) : '';
    if (program === undefined) return { worked: step, digest: digestPlace(run, place) };
    const worked = before.find((one) => one.worked !== undefined)?.worked;
    const digest = hashText(JSON.stringify([program, ...before.map((one) => one.digest)]));
    return { digest, ...(worked !== undefined && { worked }) };
  }

  return (step, cell) => {
    const first: Place = cell === undefined ? { step } : { step, cell };
    // A list instead of recursion, because chains of skipped steps can be long.
    const open: Place[] = [first];
    for (let at = open.at(-1); at !== undefined; at = open.at(-1)) {
      const isWork = hasWork(at);
      const before = open.length;
      if (!isWork && !known.has(idOf(at))) {
        for (const place of placesBefore(run, at.step, at.cell)) if (!known.has(idOf(place))) open.push(place);
      }
      if (open.length > before) continue;
      open.pop();
      if (!known.has(idOf(at))) known.set(idOf(at), isWork ? describeWork(at) : passOn(at));
    }
    return known.get(idOf(first))!;
  };
}

/** Whether a cell did work that no earlier success stands for. */
function isNew({ facts, scheduler }: ContextSource, step: number, cell: number): boolean {
  return !REUSED.has(scheduler.state(step, cell)) && facts.known[step]?.[cell]?.missed?.restores === undefined;
}

function cellsOf({ facts }: ContextSource, { step, cell }: Place): readonly number[] {
  return cell === undefined ? cellsInOrder(facts, step) : [cell];
}

/** Undefined: the program does not determine what the service does, so each of its attempts is another service. */
function describeService(
  run: ContextSource,
  place: Place,
  fingerprint: (step: number, cell: number) => Result<Fingerprint, unknown>,
): string | undefined {
  const { plan, scheduler } = run;
  const { step, cell } = place;
  const { step: spec } = plan.steps[step]!;
  if (FAILED_STATES.has(scheduler.state(step, cell)) || findSharedRead(spec, plan.pipeline) !== undefined)
    return undefined;
  const digests = cellsOf(run, place).map((one) => {
    const made = fingerprint(step, one);
    return made.ok ? made.value.digest : undefined;
  });
  if (digests.includes(undefined)) return undefined;
  return digests.length === 1 ? digests[0] : hashText(JSON.stringify(digests));
}

function digestPlace(run: ContextSource, place: Place): string {
  const { step, cell } = place;
  const isOne = cell !== undefined || !isFannedOut(run, step);
  return isOne ? digestCell(run, step, cell ?? 0) : digestCells(run, { step, cells: cellsOf(run, place) });
}

/** What a step, or a cell of it, depends on: whole steps, and the cells that a cell of a step with `each` means. */
export function placesBefore(
  { plan, facts }: Pick<ContextSource, 'plan' | 'facts'>,
  step: number,
  cell?: number,
): readonly Place[] {
  const reader = plan.steps[step]!;
  return reader.dependencies.flatMap((dependency): Place[] => {
    const { on } = dependency;
    if (cell === undefined || !isMatched(reader, plan.steps[on]!)) return [{ step: on }];
    return cellsMeant(facts, { step, cell }, dependency).map((one) => ({ step: on, cell: one }));
  });
}

/** The identity of a directory of cells: their keys, their order, and the outputs of those that have any. */
export function digestCells(
  run: ContextSource,
  { step, cells }: { readonly step: number; readonly cells: readonly number[] },
): string {
  const all = run.facts.cells[step] ?? [];
  const parts = cells.map((cell) => {
    const { key, matrix, item, each } = all[cell]!;
    // A directory omits it, whatever came before it.
    const isOmitted = each !== undefined && run.scheduler.state(step, cell) === 'skipped';
    return [key, matrix, item, isOmitted ? 'skipped' : digestCell(run, step, cell)];
  });
  return hashText(JSON.stringify(parts));
}

const REUSED: ReadonlySet<string> = new Set(['cached', 'skipped']);
