import { splitCellName } from './split-cell-name.ts';
import { type ContextSource, stepIndex } from './step-context.ts';

/** What an answer to an approval is for: a step, or a cell of a step with `each`. */
export interface ApprovalPlace {
  readonly step: number;
  readonly cell?: number;
}

/**
 * The approvals that wait for an answer under this name: `STEP` means all of a step, `STEP/CELL` that of one cell of a step
 * with `each`.
 */
export function findApprovals(
  { plan, facts, scheduler }: Pick<ContextSource, 'plan' | 'facts' | 'scheduler'>,
  name: string,
): readonly ApprovalPlace[] {
  const named = splitCellName(name);
  const step = stepIndex(plan, named.step);
  if (step === undefined) return [];
  if (plan.steps[step]!.step.each === undefined)
    return named.cell === undefined && scheduler.state(step) === 'awaitingApproval' ? [{ step }] : [];
  return (facts.cells[step] ?? []).flatMap(({ key }, cell) => {
    const isMeant = named.cell === undefined || named.cell === key;
    return isMeant && scheduler.state(step, cell) === 'awaitingApproval' ? [{ step, cell }] : [];
  });
}
