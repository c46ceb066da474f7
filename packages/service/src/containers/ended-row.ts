import type { KnownContainerPhase } from '@sluice/client';
import type { ContainerRow } from '../store/container-row.ts';

/** The `state` of a container that was canceled while it waited. */
export const NEVER_STARTED = 'canceled before it was started';

/** The row of a container that has ended, without its secret variables. */
export function endedRow(
  row: ContainerRow,
  phase: KnownContainerPhase,
  end: { state: string; endTime: number },
): ContainerRow {
  const state = phase === 'Canceled' ? canceledState(end.state) : end.state;
  // They are not needed after the end.
  const { sealedEnvs: _, ...rest } = row;
  return { ...rest, phase, state, endTime: Math.max(end.endTime, row.startTime ?? row.createTime) };
}

function canceledState(end: string): string {
  if (end === NEVER_STARTED) return end;
  return end === 'stopped' ? 'canceled' : `canceled; ${end}`;
}
