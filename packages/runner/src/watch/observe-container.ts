import type { Container } from '@sluice/client';
import {
  adoptedCluster,
  type ContainerFacts,
  hasAdoptedSuccessor,
  type Outcome,
  omitUnknown,
  urlOf,
} from '@sluice/run';
import type { Attempt } from '../session/attempt.ts';
import { isOwnContainer } from '../session/is-own-container.ts';
import type { RunSession } from '../session/run-session.ts';
import { estimateTimes, type ServiceTimes } from './estimate-times.ts';
import { judgeTerminalPhase } from './judge-terminal-phase.ts';
import { findLatestStart } from './latest-start.ts';
import { addMissedCheck } from './lost-container.ts';
import { warnOfPhase } from './warn-of-replies.ts';

/**
 * Only the exact words of our service, which pulls when a container has its capacity. Other services may pull while a
 * container waits for capacity, and no timeout may limit that wait.
 */
const PULLING = /^pulling image /;

/**
 * Evaluates a reply about an attempt's container and posts the resulting events. False: it is another container under
 * the same ID, which says nothing about ours.
 */
export function observeContainer(session: RunSession, attempt: Attempt, seen: Container): boolean {
  if (attempt.closed || seen.id !== attempt.ref.id) return seen.id === attempt.ref.id;
  if (!isOwnContainer(attempt, seen)) return false;
  // Every reply with our labels shows how the service writes the time now: a requeued container may have a new time.
  if (seen.labels || attempt.createTime === undefined) attempt.createTime = seen.createTime ?? attempt.createTime;
  const at = session.clock.now();
  if (attempt.missing?.found === 'nothing') {
    session.absenceLimit.note(addMissedCheck(attempt.missing, { at, found: 'nothing' }).lasted);
  }
  delete attempt.missing;
  if (!attempt.confirmed) {
    attempt.confirmed = true;
    session.post({ type: 'submitted', at, ...attempt.at }, { container: describeContainer(seen) });
  }
  const outcome = judge(session, attempt, seen);
  if (outcome) {
    attempt.closed = true;
    const times = timesOf(session, attempt, { seen, outcome });
    session.post({ type: 'ended', at, ...attempt.at, outcome }, times && { times });
    return true;
  }
  if ((seen.phase === 'Running' || seen.phase === 'Exiting') && !attempt.ran) {
    attempt.ran = true;
    // A reply without labels may be about a container that has replaced ours: its time must not become that of ours.
    const { createTime } = attempt;
    const container = describeContainer(seen, createTime ?? seen.createTime);
    const since = startOf(session, attempt, seen);
    session.post({ type: 'running', at, ...attempt.at, ...(since < at && { since }) }, { container });
    reportAddresses(session, attempt, seen);
  }
  if (seen.phase === 'Pending' && PULLING.test(seen.state ?? '') && !attempt.pulling) {
    attempt.pulling = true;
    const { timeoutMs } = session.scheduler.values(attempt.at.step, attempt.at.cell);
    if (timeoutMs !== undefined) session.post({ type: 'pulling', at, ...attempt.at });
  }
  warnOfPhase(session, attempt, seen);
  reportState(session, attempt, seen);
  return true;
}

/** When it has begun at the latest: now, or before, while no runner was attached. */
function startOf({ facts }: RunSession, { at, ref }: Attempt, seen: Container): number {
  const known = facts.known[at.step]?.[at.cell]?.attempts.find(({ attempt }) => attempt === at.attempt);
  if (known === undefined) return Number.POSITIVE_INFINITY;
  const createdBy = adoptedCluster(facts, at) === undefined ? facts.createdBy.get(ref.id) : facts.adoptedAt;
  return findLatestStart({ createdBy, ...known }, seen) ?? Number.POSITIVE_INFINITY;
}

/** When it ran, as the service reports; undefined if that adds nothing to the polls. */
function timesOf(
  session: RunSession,
  { at, ran }: Attempt,
  { seen, outcome }: { readonly seen: Container; readonly outcome: Outcome },
): ServiceTimes | undefined {
  // A container that was canceled while it waited never ran, whatever duration is reported.
  if (outcome.result === 'canceled' && !ran && seen.startTime === undefined) return undefined;
  const known = session.facts.known[at.step]?.[at.cell]?.attempts.find(({ attempt }) => attempt === at.attempt);
  const { askedAt, submittedAt, runningAt } = known ?? {};
  return estimateTimes({ askedAt, submittedAt, runningAt, seenAt: session.clock.now() }, seen);
}

/**
 * An adopted run does not know why it canceled: a container that exceeded its timeout, or was retried since, has timed
 * out.
 */
function judge(session: RunSession, attempt: Attempt, seen: Container): Outcome | undefined {
  const outcome = judgeTerminalPhase(seen);
  if (outcome?.result !== 'canceled' || session.facts.adopted === undefined) return outcome;
  const { timeoutMs } = session.scheduler.values(attempt.at.step, attempt.at.cell);
  const ranMs = Date.parse(seen.endTime ?? '') - Date.parse(seen.startTime ?? '');
  const isTimedOut =
    hasAdoptedSuccessor(session.facts, attempt.name) || (timeoutMs !== undefined && ranMs >= timeoutMs);
  if (!isTimedOut) return outcome;
  return {
    result: 'failed',
    class: 'timeout',
    message: 'an earlier runner canceled it because its time limit had passed',
  };
}

function reportState(session: RunSession, attempt: Attempt, seen: Container): void {
  if (attempt.ran || !seen.state || !seen.phase || seen.state === attempt.reportedState) return;
  attempt.reportedState = seen.state;
  const { step, cell } = attempt.name;
  session.report({
    type: 'containerState',
    at: session.clock.now(),
    step,
    cell,
    phase: seen.phase,
    message: seen.state,
  });
}

/** No other event contains the address of an exposed port. */
function reportAddresses(session: RunSession, { name: { step, cell } }: Attempt, seen: Container): void {
  for (const [name, { https }] of Object.entries(seen.ports ?? {})) {
    if (!https?.host) continue;
    const { url } = urlOf({ host: https.host });
    const message = `port ${name} is at ${url}`;
    session.report({ type: 'containerState', at: session.clock.now(), step, cell, phase: 'Running', message });
  }
}

function describeContainer(seen: Container, createTime = seen.createTime): ContainerFacts {
  const ports = Object.entries(seen.ports ?? {}).map(([name, port]) => {
    const host = port.https?.host;
    return [
      name,
      { ...(port.port !== undefined && { port: port.port }), ...(host !== undefined && { host }) },
    ] as const;
  });
  return omitUnknown<ContainerFacts>({
    createTime,
    runID: seen.runID,
    ports: ports.length > 0 ? Object.fromEntries(ports) : undefined,
  });
}
