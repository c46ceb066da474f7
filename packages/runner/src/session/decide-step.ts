import { resolveDecision } from '@sluice/core';
import { type ContextSource, createRunContext } from '@sluice/run';
import type { Posted } from './posted.ts';
import type { RunUsage } from './run-usage.ts';

/** A run, and what it may use. */
interface DecidedRun extends ContextSource {
  readonly usage: Pick<RunUsage, 'addCells'>;
}

/** Answers `decide`: whether the step runs, and with which cells, by its `when` and `foreach`. */
export function decideStep(run: DecidedRun, { step, at }: { step: number; at: number }): Posted {
  const decision = resolveDecision(run.plan, step, createRunContext(run, 1));
  if (!decision.ok) return { event: { type: 'evaluationFailed', at, step, message: decision.error } };
  if (!decision.value.run) return { event: { type: 'skipped', at, step } };
  const { cells } = decision.value;
  if (!cells) return { event: { type: 'decided', at, step, cells: run.facts.cells[step]?.length ?? 1 } };
  const excess = run.usage.addCells(step, cells.length);
  if (excess === undefined) return { event: { type: 'decided', at, step, cells: cells.length }, facts: { cells } };
  const message = `\`foreach\` of step \`${run.plan.steps[step]!.step.name}\` cannot be used: ${excess}`;
  return { event: { type: 'evaluationFailed', at, step, message } };
}
