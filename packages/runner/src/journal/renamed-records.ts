import type { SchedulerEvent } from '../scheduler/model/event.ts';
import type { JournalRecord } from './journal-record.ts';
import type { Reuse } from './reuse.ts';
import type { SchedulerStart } from './scheduler-start.ts';

/** Event types of earlier versions, with their present names. */
const EVENTS: Readonly<Record<string, SchedulerEvent['type'] | undefined>> = {
  undecidable: 'evaluationFailed',
  roomFreed: 'capacityFreed',
};

/** A record of any version as this version writes it: journals of earlier versions can be resumed. */
export function renameRecord(record: JournalRecord): JournalRecord {
  if (record.kind === 'run') return renameStart(record);
  // Another program may have written the record. As a key, an object would be turned into text.
  if (record.kind !== 'event' || typeof record.event?.type !== 'string') return record;
  if (!Object.hasOwn(EVENTS, record.event.type)) return record;
  return { ...record, event: { ...record.event, type: EVENTS[record.event.type] } as SchedulerEvent };
}

function renameStart(record: Extract<JournalRecord, { kind: 'run' }>): JournalRecord {
  const { reuse, ...header } = record;
  // A newer version may have written something else here; such a journal is rejected later.
  const start: (SchedulerStart & { readonly maxInFlight?: number }) | undefined = record.scheduler;
  return {
    ...header,
    ...(start?.maxInFlight !== undefined && { scheduler: renameParallelism(start, start.maxInFlight) }),
    ...(reuse && { reuse: renameReuse(reuse) }),
  };
}

function renameParallelism(
  { maxInFlight: _, ...start }: SchedulerStart & { readonly maxInFlight?: number },
  parallelism: number,
): SchedulerStart {
  return { ...start, parallelism };
}

function renameReuse({ runId, force, again = [] }: Reuse & { readonly again?: readonly string[] }): Reuse {
  return { runId, force: force ?? again };
}
