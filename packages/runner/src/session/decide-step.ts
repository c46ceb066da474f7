import { resolveDecision } from '@sluice/core';
import { type ContextSource, createRunContext, findUnknownItem } from '@sluice/run';
import type { Posted } from './posted.ts';
import type { RunUsage } from './run-usage.ts';

/** A run, and what it may use. */
interface DecidedRun extends ContextSource {
  readonly usage: Pick<RunUsage, 'addCells'>;
}

/** Answers `decide`: whether a step or one of its cells runs, and with which cells, by its `when` and `foreach`, and with which values. */
export function decideStep(run: DecidedRun, { step, cell, at }: { step: number; cell?: number; at: number }): Posted {
  const gate = { at, step, ...(cell !== undefined && { cell }) };
  const context = createRunContext(run, 1, cell === undefined ? undefined : { step, cell });
  // The parts of the context are computed when they are read, so that it is extended, not copied.
  const given =
    cell === undefined
      ? context
      : Object.create(context, { cell: { value: run.facts.cells[step]![cell] }, index: { value: cell } });
  const decision = resolveDecision(run.plan, step, given);
  if (!decision.ok) return { event: { type: 'evaluationFailed', ...gate, message: decision.error } };
  if (!decision.value.run) return { event: { type: 'skipped', ...gate } };
  const unknown = cell === undefined ? undefined : findUnknownItem(run.facts, { step, cell });
  if (unknown !== undefined) return { event: { type: 'evaluationFailed', ...gate, message: unknown } };
  const { cells, values } = decision.value;
  const late = values && { values };
  if (!cells) return { event: { type: 'decided', ...gate, cells: run.facts.cells[step]?.length ?? 1, ...late } };
  const excess = run.usage.addCells(step, cells.length);
  if (excess === undefined)
    return { event: { type: 'decided', at, step, cells: cells.length, ...late }, facts: { cells } };
  const message = `\`foreach\` of step \`${run.plan.steps[step]!.step.name}\` cannot be used: ${excess}`;
  return { event: { type: 'evaluationFailed', at, step, message } };
}
