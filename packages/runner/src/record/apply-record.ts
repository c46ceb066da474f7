import type { EventFacts, JournalRecord } from '../journal/journal-record.ts';
import type { SchedulerEvent } from '../scheduler/model/event.ts';
import { attemptFacts, cellFacts, type RunFacts } from './run-facts.ts';
import { transferKey } from './transfer-key.ts';

type Apply = {
  readonly [K in JournalRecord['kind']]: (
    facts: RunFacts,
    record: Extract<JournalRecord, { readonly kind: K }>,
  ) => void;
};

/** Applies one record to the facts, in a live run and in a replay alike. */
export function applyRecord(facts: RunFacts, record: JournalRecord): void {
  (APPLY[record.kind] as (facts: RunFacts, record: JournalRecord) => void)(facts, record);
}

const APPLY: Apply = {
  run(facts, record) {
    facts.header = record;
  },
  event: (facts, { event, facts: recorded = {} }) => applyEvent(facts, event, recorded),
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
  adopted(facts, { attempts }) {
    facts.adopted = attempts;
  },
  transferred(facts, record) {
    facts.transferred.add(transferKey(record));
  },
  inputState(facts, { volumeID, path, digest }) {
    facts.inputStates.set(`${volumeID}:${path}`, digest);
  },
  volumes(facts, { volumes }) {
    facts.volumes = { ...facts.volumes, ...volumes };
  },
  delivered(facts, { outputs, undelivered = {}, kept = {} }) {
    facts.delivered = outputs;
    facts.undelivered = undelivered;
    facts.kept = kept;
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
  opened() {},
};

function applyEvent(facts: RunFacts, event: SchedulerEvent, recorded: EventFacts): void {
  switch (event.type) {
    case 'started':
      facts.startedAt = event.at;
      return;
    case 'decided':
      if (recorded.cells) facts.cells[event.step] = recorded.cells;
      return;
    case 'evaluationFailed':
      facts.evaluationErrors.set(event.step, event.message);
      return;
    case 'cacheHit':
    case 'cacheMissed':
      applyLookup(facts, event, recorded);
      return;
    case 'approved':
      facts.answeredAt.set(event.step, event.at);
      return;
    case 'postponed':
    case 'submitted':
    case 'running':
    case 'ended':
    case 'published':
      applyAttemptEvent(facts, event, recorded);
      return;
    case 'stuck':
      facts.stuck = event.message;
      return;
    case 'cancelRequested':
      facts.canceledBy ??= event.by;
      return;
    default:
      return;
  }
}

type EventOf<T extends SchedulerEvent['type']> = Extract<SchedulerEvent, { readonly type: T }>;

function applyLookup(facts: RunFacts, event: EventOf<'cacheHit' | 'cacheMissed'>, recorded: EventFacts): void {
  const cell = cellFacts(facts, event.step, event.cell);
  cell.lookedUpAt = event.at;
  if (event.type === 'cacheMissed') {
    if (recorded.missed) cell.missed = recorded.missed;
  } else if (recorded.cached) {
    cell.cached = recorded.cached;
    cell.results = recorded.cached.results;
  }
}

function applyAttemptEvent(
  facts: RunFacts,
  event: EventOf<'postponed' | 'submitted' | 'running' | 'ended' | 'published'>,
  recorded: EventFacts,
): void {
  const attempt = attemptFacts(facts, event);
  switch (event.type) {
    case 'postponed':
      attempt.postponed = { times: (attempt.postponed?.times ?? 0) + 1, reason: event.reason };
      // Slots of a pool are requested before the container, so this says nothing about an earlier request.
      if (event.reason !== 'pool') {
        attempt.declined = true;
        attempt.doubtfulSince = event.at;
      }
      return;
    case 'submitted':
      attempt.submitted = true;
      attempt.submittedAt ??= event.at;
      attempt.container = { ...recorded.container, ...attempt.container };
      return;
    case 'running':
      attempt.runningAt ??= event.at;
      attempt.container = { ...attempt.container, ...recorded.container };
      return;
    case 'ended':
      // Only a success can still change: if its outputs cannot be published, it becomes a failure.
      if (attempt.outcome && (attempt.outcome.result !== 'succeeded' || event.outcome.result === 'succeeded')) return;
      attempt.endedAt = recorded.times?.endedAt ?? event.at;
      if (recorded.times?.runningAt !== undefined) attempt.runningAt = recorded.times.runningAt;
      attempt.outcome = event.outcome;
      if (event.outcome.result !== 'succeeded') facts.failures.push(event);
      return;
    case 'published': {
      const cell = cellFacts(facts, event.step, event.cell);
      cell.winner = event.attempt;
      attempt.publishedAt = event.at;
      cell.results = recorded.results ?? {};
      return;
    }
  }
}
