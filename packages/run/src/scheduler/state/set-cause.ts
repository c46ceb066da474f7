import { CAUSE_KIND, type RunState } from './run-state.ts';

/** Sets why a step never runs; `root` is the step that caused it, and `edge` the condition that was not satisfied. */
export function setCause(run: RunState, step: number, cause: { kind: number; root?: number; edge?: number }): void {
  run.causeKind[step] = cause.kind;
  if (cause.root !== undefined) run.causeStep[step] = cause.root;
  if (cause.edge !== undefined) run.causeEdge[step] = cause.edge;
}

/** The same, unless a cause is already set. */
export function setFirstCause(run: RunState, step: number, kind: number): void {
  if (run.causeKind[step] === CAUSE_KIND.none) setCause(run, step, { kind });
}
