import { bindListed, fail, type Json, listedSteps, MAX_CELLS, ok, own, type Result, resolveLists } from '@sluice/core';
import { type ContextSource, countListed, type EventFacts, type SchedulerEvent } from '@sluice/run';
import type { RunUsage } from './run-usage.ts';

/** A run, and what it may use. */
interface ListingRun extends Pick<ContextSource, 'plan' | 'facts'> {
  readonly usage: Pick<RunUsage, 'addCells'>;
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
  for (const { axis, steps, batchesOf } of listedSteps(plan).get(step) ?? []) {
    const items = own(lists.value, axis)!.length;
    for (const of of steps) {
      const count = facts.cells[of]!.length + Math.max(0, items - 1) * batchesOf(of, cell).length;
      const name = plan.steps[of]!.step.name;
      if (count > MAX_CELLS)
        return fail(
          `axis \`${axis}\`: with its ${items} items step \`${name}\` has ${count} cells; the maximum is ${MAX_CELLS}`,
        );
      const excess = usage.addCells(of, count);
      if (excess !== undefined) return fail(`axis \`${axis}\`, cells of step \`${name}\`: ${excess}`);
    }
  }
  const event = countListed(lists.value);
  if (event.lists === undefined) return ok({ event, facts: {} });
  return ok({ event: { ...event, ...bindListed(plan, { step, cell }, lists.value) }, facts: { lists: lists.value } });
}
