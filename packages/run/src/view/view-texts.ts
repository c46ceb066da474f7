import { resolveContainer, resolvePlannedText } from '@sluice/core';
import { evaluateForView } from '../facts/evaluate-for-view.ts';
import { createRunContext, describeRun, plannedTimeOf } from '../facts/step-context.ts';
import type { ViewedRun } from './viewed-run.ts';

/** The image and the command of a cell with their expressions evaluated as far as possible. */
export function viewTexts(run: ViewedRun, place: CellPlace): CellTexts {
  return evaluateForView(run.model.facts.plan, () => evaluateTexts(run, place));
}

interface CellPlace {
  readonly step: number;
  readonly cell: number;
}

interface CellTexts {
  readonly image?: string;
  readonly command?: readonly string[];
}

function evaluateTexts({ runId, model: { facts, scheduler } }: ViewedRun, { step, cell }: CellPlace): CellTexts {
  const { plan } = facts;
  const of = facts.cells[step]?.[cell] ?? { key: '', matrix: {} };
  const attempt = Math.max(1, scheduler.attempt(step, cell));
  const context = createRunContext({ runId, plan, facts, scheduler }, attempt);
  const resolved = resolveContainer(plan, step, { cell: of, context });
  if (resolved.ok) {
    const { image, command } = resolved.value;
    return { ...(image !== undefined && { image }), ...(command && { command }) };
  }
  // It reads what a step will return that has not ended.
  const { image, command } = plan.steps[step]!.step;
  const run = describeRun({ runId, plan, plannedTime: plannedTimeOf(facts) });
  const planned = (text: string) => {
    const known = resolvePlannedText(plan, text, { run, cell: of });
    return known.ok ? known.value : text;
  };
  return { ...(image !== undefined && { image: planned(image) }), ...(command && { command: command.map(planned) }) };
}
