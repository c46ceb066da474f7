import { isTerminalPhase } from '@sluice/client';
import { Refusal } from '../protocol/refusal.ts';
import type { ContainerRow } from '../store/container-row.ts';
import { renderTime } from '../store/render-list-item.ts';

/** The refusal of an ID that is in use, with the phase of what has it and, where that has ended, when it is free. */
export function idTaken(row: ContainerRow, retentionMs: number): Refusal {
  const ended = isTerminalPhase(row.phase) && row.endTime !== undefined;
  const freeTime = ended ? renderTime(row.endTime! + retentionMs) : undefined;
  const free = freeTime === undefined ? 'delete it to free the ID' : `free at ${freeTime}, or once it is deleted`;
  return new Refusal(
    'CONTAINER_ID_TAKEN',
    `could not create the container '${row.id}' because one with this ID is ${row.phase}; ${free}`,
    { details: { phase: row.phase, ...(freeTime === undefined ? {} : { freeTime }) } },
  );
}
