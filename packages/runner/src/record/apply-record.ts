import type { EventFacts, JournalRecord } from '../journal/journal-record.ts';
import type { SchedulerEvent } from '../scheduler/model/event.ts';
import { attemptFacts, cellFacts, type RunFacts } from './run-facts.ts';
import { transferKey } from './transfer-key.ts';

/** Folds one record into the facts: the same for a live run and for a replay. */
export function applyRecord(facts: RunFacts, record: JournalRecord): void {
  switch (record.kind) {
    case 'run':
      facts.header = record;
      return;
    case 'event':
      applyEvent(facts, record.event, record.facts ?? {});
      return;
    case 'intent': {
      const attempt = attemptFacts(facts, record);
      attempt.id = record.id;
      attempt.turnedAway = false;
      attempt.askedAt ??= record.at;
      attempt.clusterID = record.clusterID;
      attempt.instanceType = record.instanceType;
      attempt.spec = record.spec;
      attempt.doubtfulSince = record.at;
      return;
    }
    case 'cancelIntent':
      attemptFacts(facts, record).cancelReason = record.reason;
      return;
    case 'log': {
      const attempt = attemptFacts(facts, record);
      attempt.logTail = record.tail;
      if (record.file !== undefined) attempt.logFile = record.file;
      return;
    }
    case 'adopted':
      facts.adopted = record.attempts;
      return;
    case 'transferred':
      facts.transferred.add(transferKey(record));
      return;
    case 'inputState':
      facts.inputStates.set(`${record.volumeID}:${record.path}`, record.digest);
      return;
    case 'volumes':
      facts.volumes = { ...facts.volumes, ...record.volumes };
      return;
    case 'delivered':
      facts.delivered = record.outputs;
      facts.undelivered = record.undelivered ?? {};
      facts.kept = record.kept ?? {};
      return;
    case 'notified':
      facts.notified.add(record.index);
      return;
    case 'warning':
      facts.warnings.push({
        at: record.at,
        message: record.message,
        ...(record.concerns && { concerns: record.concerns }),
      });
      return;
    case 'finished':
      facts.finished = { at: record.at, status: record.status };
      return;
    case 'opened':
      return;
  }
}

function applyEvent(facts: RunFacts, event: SchedulerEvent, beside: EventFacts): void {
  switch (event.type) {
    case 'started':
      facts.startedAt = event.at;
      return;
    case 'decided':
      if (beside.cells) facts.cells[event.step] = beside.cells;
      return;
    case 'evaluationFailed':
      facts.evaluationErrors.set(event.step, event.message);
      return;
    case 'cacheHit': {
      const cell = cellFacts(facts, event.step, event.cell);
      cell.lookedUpAt = event.at;
      if (!beside.cached) return;
      cell.cached = beside.cached;
      cell.results = beside.cached.results;
      return;
    }
    case 'cacheMissed': {
      const cell = cellFacts(facts, event.step, event.cell);
      cell.lookedUpAt = event.at;
      if (beside.missed) cell.missed = beside.missed;
      return;
    }
    case 'approved':
      facts.answeredAt.set(event.step, event.at);
      return;
    case 'postponed': {
      const attempt = attemptFacts(facts, event);
      attempt.postponed = { times: (attempt.postponed?.times ?? 0) + 1, reason: event.reason };
      // Tokens of a pool are asked for before the service is, and say nothing of an earlier request.
      if (event.reason !== 'pool') {
        attempt.turnedAway = true;
        attempt.doubtfulSince = event.at;
      }
      return;
    }
    case 'submitted': {
      const attempt = attemptFacts(facts, event);
      attempt.submitted = true;
      attempt.submittedAt ??= event.at;
      attempt.container = { ...beside.container, ...attempt.container };
      return;
    }
    case 'running': {
      const attempt = attemptFacts(facts, event);
      attempt.runningAt ??= event.at;
      attempt.container = { ...attempt.container, ...beside.container };
      return;
    }
    case 'ended': {
      const attempt = attemptFacts(facts, event);
      // Only a success can still change: into a failure of its publishing.
      if (attempt.outcome && (attempt.outcome.result !== 'succeeded' || event.outcome.result === 'succeeded')) return;
      attempt.endedAt = beside.times?.endedAt ?? event.at;
      if (beside.times?.runningAt !== undefined) attempt.runningAt = beside.times.runningAt;
      attempt.outcome = event.outcome;
      if (event.outcome.result !== 'succeeded') facts.failures.push(event);
      return;
    }
    case 'published': {
      const cell = cellFacts(facts, event.step, event.cell);
      cell.winner = event.attempt;
      attemptFacts(facts, event).publishedAt = event.at;
      cell.results = beside.results ?? {};
      return;
    }
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
