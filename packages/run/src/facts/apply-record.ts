import type { JournalRecord } from '../records/journal-record.ts';
import { checkRecord } from './check-record.ts';
import { attemptFacts, cellFacts, type RunFacts } from './run-facts.ts';
import { transferKey } from './transfer-key.ts';

/** A record that does not change the scheduler's state. */
export type PlainRecord = Exclude<JournalRecord, { readonly kind: 'event' }>;

type Apply = {
  readonly [K in PlainRecord['kind']]: (facts: RunFacts, record: Extract<PlainRecord, { readonly kind: K }>) => void;
};

/**
 * Applies one record to the facts, in a live run and in a replay alike. Events: see `applyEvent`. Throws if the run cannot have
 * the record.
 */
export function applyRecord(facts: RunFacts, record: PlainRecord): void {
  if (!Object.hasOwn(APPLY, record.kind)) throw new Error('could not apply a record of an unknown kind to the run');
  checkRecord(facts, record);
  (APPLY[record.kind] as (facts: RunFacts, record: PlainRecord) => void)(facts, record);
  if ('at' in record) facts.recordedAt = Math.max(facts.recordedAt, record.at);
}

const APPLY: Apply = {
  run(facts, record) {
    facts.header = record;
  },
  intent(facts, record) {
    const attempt = attemptFacts(facts, record);
    attempt.id = record.id;
    attempt.declined = false;
    attempt.askedAt ??= record.at;
    attempt.clusterID = record.clusterID;
    attempt.instanceType = record.instanceType;
    attempt.spec = record.spec;
    attempt.doubtfulSince = record.at;
  },
  cancelIntent(facts, record) {
    attemptFacts(facts, record).cancelReason = record.reason;
  },
  log(facts, record) {
    const attempt = attemptFacts(facts, record);
    attempt.logTail = record.tail;
    if (record.file !== undefined) attempt.logFile = record.file;
  },
  adopted(facts, { at, attempts }) {
    facts.adopted = attempts;
    facts.adoptedAt = at;
  },
  transferred(facts, record) {
    const key = transferKey(record);
    facts.transferred.add(key);
    facts.transfers.push({ at: record.at, key });
  },
  removed(facts, { step, cell, output }) {
    const known = cellFacts(facts, step, cell);
    known.removed = [...(known.removed ?? []), output];
  },
  inputState(facts, { volumeID, path, digest }) {
    facts.inputStates.set(`${volumeID}:${path}`, digest);
  },
  volumes(facts, { volumes }) {
    facts.volumes = { ...facts.volumes, ...volumes };
  },
  delivered(facts, { at, outputs, undelivered = {}, staleOutputs = {} }) {
    facts.deliveredAt = at;
    facts.delivered = outputs;
    facts.undelivered = undelivered;
    facts.staleOutputs = staleOutputs;
  },
  notified(facts, { index }) {
    facts.notified.add(index);
  },
  warning(facts, { at, message, concerns }) {
    facts.warnings.push({ at, message, ...(concerns && { concerns }) });
  },
  finished(facts, { at, status }) {
    facts.finished = { at, status };
  },
  opened(facts, { at }) {
    if (facts.recordedAt > 0 && at > facts.recordedAt) facts.pauses.push({ from: facts.recordedAt, to: at });
  },
};
