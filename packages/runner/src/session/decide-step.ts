import { resolveDecision } from '@sluice/core';
import { type ContextSource, createRunContext } from '../record/step-context.ts';
import type { Posted } from './posted.ts';

/** Answers `decide`: whether the step runs, and with which cells, by its `when` and `foreach`. */
export function decideStep(run: ContextSource, { step, at }: { step: number; at: number }): Posted {
  const decision = resolveDecision(run.plan, step, createRunContext(run, 1));
  if (!decision.ok) return { event: { type: 'evaluationFailed', at, step, message: decision.error } };
  if (!decision.value.run) return { event: { type: 'skipped', at, step } };
  const { cells } = decision.value;
  if (!cells) return { event: { type: 'decided', at, step, cells: run.facts.cells[step]?.length ?? 1 } };
  return { event: { type: 'decided', at, step, cells: cells.length }, facts: { cells } };
}
