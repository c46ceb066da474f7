import type { JournalRecord } from './journal-record.ts';

/** When a record was written; undefined of those without a time. */
export function timeOfRecord(record: JournalRecord): number | undefined {
  if (record.kind === 'event') return record.event.at;
  return 'at' in record ? record.at : undefined;
}
