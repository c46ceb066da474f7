import {
  bindListed,
  fail,
  type Json,
  type Lists,
  listedSteps,
  MAX_CELLS,
  ok,
  own,
  type Result,
  resolveLists,
} from '@sluice/core';
import { type ContextSource, countListed, type EventFacts, type SchedulerEvent } from '@sluice/run';
import type { RunUsage } from './run-usage.ts';

/** A run, and what it may use. */
interface ListingRun extends Pick<ContextSource, 'plan' | 'facts'> {
  readonly usage: Pick<RunUsage, 'addCells' | 'listed'>;
}

/** The part of an event that says what a cell lists, and the facts with it. Both are empty for a cell that lists nothing. */
export interface Listed {
  readonly event: Pick<Extract<SchedulerEvent, { readonly type: 'published' }>, 'lists' | 'bound'>;
  readonly facts: Pick<EventFacts, 'lists'>;
}

/**
 * The items that a cell with these results lists, which then count as cells. The error says which list is wrong: the cell
 * cannot succeed with it.
 */
export function listItems(
  { plan, facts, usage }: ListingRun,
  { step, cell }: { readonly step: number; readonly cell: number },
  results: Readonly<Record<string, Json>>,
): Result<Listed, string> {
  const lists = resolveLists(plan, step, results);
  if (!lists.ok) return lists;
  const excess = countItems({ plan, facts, usage }, { step, cell }, lists.value);
  if (excess !== undefined) {
    for (const { steps, batchesOf } of listedSteps(plan).get(step) ?? [])
      for (const of of steps) usage.listed.drop(of, batchesOf(of, cell));
    return fail(excess);
  }
  const event = countListed(lists.value);
  if (event.lists === undefined) return ok({ event, facts: {} });
  return ok({ event: { ...event, ...bindListed(plan, { step, cell }, lists.value) }, facts: { lists: lists.value } });
}

/** Counts the cells of these lists. Returns why there are too many. */
function countItems(
  { plan, facts, usage }: ListingRun,
  { step, cell }: { readonly step: number; readonly cell: number },
  lists: Lists,
): string | undefined {
  for (const { axis, steps, batchesOf } of listedSteps(plan).get(step) ?? []) {
    const items = own(lists, axis)!.length;
    for (const of of steps) {
      // A cell that has succeeded before in this run has listed its items then.
      const unknown = batchesOf(of, cell).filter((batch) => facts.batches[of]!.sizeOf(batch) === undefined);
      const count = usage.listed.add(of, unknown, items);
      const name = plan.steps[of]!.step.name;
      if (count > MAX_CELLS)
        return `axis \`${axis}\`: with its ${items} items step \`${name}\` has ${count} cells; the maximum is ${MAX_CELLS}`;
      const added = Math.max(0, items - 1) * unknown.length;
      const excess = usage.addCells(of, facts.cells[of]!.length + added);
      if (excess !== undefined) return `axis \`${axis}\`, cells of step \`${name}\`: ${excess}`;
    }
  }
  return undefined;
}
