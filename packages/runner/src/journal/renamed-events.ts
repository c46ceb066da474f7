import type { SchedulerEvent } from '../scheduler/model/event.ts';
import type { JournalRecord } from './journal-record.ts';

/** Event types of earlier versions, with their present names. */
const RENAMED: Readonly<Record<string, SchedulerEvent['type'] | undefined>> = {
  undecidable: 'evaluationFailed',
  roomFreed: 'capacityFreed',
};

/** A record of any version as this version writes it: journals of earlier versions can be resumed. */
export function renameEvents(record: JournalRecord): JournalRecord {
  if (record.kind !== 'event' || !Object.hasOwn(RENAMED, record.event.type)) return record;
  return { ...record, event: { ...record.event, type: RENAMED[record.event.type] } as SchedulerEvent };
}
