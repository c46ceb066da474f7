import { CAUSE_KIND, type RunState } from './run-state.ts';

/** Why the cells of a gate never run. */
export interface GateCause {
  readonly kind: number;
  /** The step that caused it, its cell if one in particular did, and the condition that was not satisfied. */
  readonly root?: number;
  readonly cell?: number;
  readonly edge?: number;
}

/** Sets why the cells of a gate never run. */
export function setCause(run: RunState, gate: number, cause: GateCause): void {
  run.causeKind[gate] = cause.kind;
  if (cause.root !== undefined) run.causeStep[gate] = cause.root;
  if (cause.root !== undefined) run.causeCell[gate] = cause.cell ?? -1;
  if (cause.edge !== undefined) run.causeEdge[gate] = cause.edge;
}

/** The same, unless a cause is already set. */
export function setFirstCause(run: RunState, gate: number, kind: number): void {
  if (run.causeKind[gate] === CAUSE_KIND.none) setCause(run, gate, { kind });
}
