import type { JournalRecord } from '../records/journal-record.ts';
import { describeMiss } from './describe-miss.ts';

/** When a record was written; undefined if it does not say. */
export function timeOf(record: JournalRecord): number | undefined {
  if (record.kind === 'event') return record.event.at;
  return 'at' in record ? record.at : undefined;
}

/** The attempt that a record is about, from 1; 0 for none. */
export function attemptOf(record: JournalRecord): number {
  if (record.kind === 'event') return 'attempt' in record.event ? record.event.attempt : 0;
  return 'attempt' in record ? record.attempt : 0;
}

/** The step that a record is about, and its cell, unless it is about the whole step; undefined for other records. */
export function subjectOf(record: JournalRecord): { readonly step: number; readonly cell?: number } | undefined {
  const named = record.kind === 'event' ? record.event : record;
  if (!('step' in named)) return undefined;
  return 'cell' in named ? { step: named.step, cell: named.cell } : { step: named.step };
}

/** Whether a record is about this cell, or about its step. */
export function isAbout(record: JournalRecord, step: number, cell: number): boolean {
  const subject = subjectOf(record);
  return subject?.step === step && (subject.cell ?? cell) === cell;
}

/** The message that a record adds to the move that it causes; undefined if it adds none. */
export function describeRecord(record: JournalRecord): string | undefined {
  switch (record.kind) {
    case 'intent':
      return `about to create container ${record.id} on cluster ${record.clusterID} (${record.instanceType})`;
    case 'cancelIntent':
      return `about to cancel its container: ${record.reason}`;
    case 'log':
      return record.file === undefined ? undefined : `its log is stored in ${record.file}`;
    case 'removed':
      return `its output ${record.output} was removed as temporary: no other cell needs it`;
    case 'event':
      return describeEvent(record);
    default:
      return undefined;
  }
}

function describeEvent({ event, facts }: Extract<JournalRecord, { kind: 'event' }>): string | undefined {
  switch (event.type) {
    case 'decided':
      return facts?.cells ? `decided: ${facts.cells.length} cells` : undefined;
    case 'skipped':
      return 'its condition does not hold';
    case 'evaluationFailed':
      return event.message;
    case 'cacheHit':
      return facts?.cached && `the same work was done in run ${facts.cached.runId}`;
    case 'cacheMissed':
      return facts?.missed && describeMiss(facts.missed.reason);
    case 'submitted':
      return facts?.container?.runID === undefined ? undefined : `the service calls it ${facts.container.runID}`;
    case 'pulling':
      return 'its image is being pulled';
    case 'postponed':
      return `postponed (${event.reason}) until ${new Date(event.until).toISOString()}`;
    case 'ended':
      return event.outcome.result === 'failed' ? event.outcome.message : event.outcome.result;
    case 'notReady':
      return event.message;
    case 'approved':
      return `${event.approved ? 'approved' : 'rejected'} by ${event.by}`;
    default:
      return undefined;
  }
}
