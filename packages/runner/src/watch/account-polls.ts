import type { ChangeHint, Scope } from '@sluice/client';
import type { Clock } from '@sluice/home';
import type { Attempt } from '../session/attempt.ts';
import type { PolledRun, RunPolls } from '../session/shared-polls.ts';
import { createTransientMap, type TransientMap } from '../session/transient-map.ts';
import { createAccountPoll, type PollAccount, type Polled } from './poll-account.ts';
import { createPollPace, type PollPace } from './poll-pace.ts';

/** What the polls of an account depend on. */
export interface AccountPollsParts {
  readonly clock: Pick<Clock, 'now' | 'setTimer'>;
  /** Called when the last run has left. */
  readonly onEmpty: () => void;
}

/** The polls of one account. */
export interface AccountPolls {
  join(run: PolledRun): RunPolls;
}

interface Member {
  readonly run: PolledRun;
  /** By container ID. */
  readonly attempts: TransientMap<Attempt>;
  /** When the run needs a poll; undefined while it has no containers. */
  dueAt: number | undefined;
  /** When the run last checked that no other process has resumed it. */
  leaseSeenAt: number;
}

/** A run whose containers other runs' polls keep up to date checks its lease at this interval. */
const LEASE_MS = 10_000;

interface State extends AccountPollsParts {
  readonly members: Set<Member>;
  /** By container ID. */
  readonly tracked: TransientMap<Polled>;
  readonly pace: PollPace;
  readonly poll: PollAccount;
  timer: { readonly at: number; readonly cancel: () => void } | undefined;
  isPolling: boolean;
  /** Undefined: the service sends no hints. */
  unwatch: (() => void) | undefined;
}

/**
 * Polls one account for its runs. Each run has an interval, which depends on its containers; a poll for one run brings all
 * runs up to date if it uses a list. If the service sends hints, changed containers are queried at once, and the polls
 * are only a safety net.
 */
export function createAccountPolls(scope: Scope, parts: AccountPollsParts): AccountPolls {
  const pace = createPollPace();
  const state: State = {
    ...{ ...parts, members: new Set(), tracked: createTransientMap(), pace, poll: createAccountPoll(scope, pace) },
    ...{ timer: undefined, isPolling: false, unwatch: undefined },
  };
  const { members, tracked, clock } = state;
  const onHint = ({ clusterID, accountID, containerID }: ChangeHint): void => {
    if (clusterID !== scope.clusterID || accountID !== scope.accountID) return;
    const found = tracked.get(containerID);
    if (found?.attempt.confirmed) void found.run.check(found.attempt);
    else if (found) found.attempt.hinted = true;
  };
  return {
    join(run) {
      if (members.size === 0) state.unwatch = run.session.service.watch(onHint);
      const member: Member = { run, attempts: createTransientMap(), dueAt: undefined, leaseSeenAt: clock.now() };
      members.add(member);
      return {
        add(attempt) {
          member.attempts.set(attempt.ref.id, attempt);
          tracked.set(attempt.ref.id, { run, attempt });
          plan(state, member);
        },
        remove: (attempt) => remove(state, member, attempt),
        answered: pace.answered,
        failed: pace.failed,
        leave: () => leave(state, member),
      };
    },
  };
}

async function pollNow(state: State): Promise<void> {
  const { members, clock, pace, poll } = state;
  state.timer = undefined;
  state.isPolling = true;
  const now = clock.now();
  const due = new Set([...members].filter((member) => isDue(member, now) && ownsLease(member, now)));
  const live = [...members].flatMap((member) => listLive(member));
  const runs = new Set([...due].map(({ run }) => run));
  pace.begun();
  const seen = await poll({ live, due: live.filter(({ run }) => runs.has(run)) });
  state.isPolling = false;
  for (const member of members) {
    for (const attempt of member.attempts.values()) if (attempt.closed) remove(state, member, attempt);
    if (seen === 'all' || due.has(member)) member.dueAt = undefined;
    plan(state, member);
  }
}

function remove({ tracked, pace, clock }: State, { run, attempts }: Member, attempt: Attempt): void {
  if (attempts.get(attempt.ref.id) !== attempt) return;
  attempts.delete(attempt.ref.id);
  tracked.delete(attempt.ref.id);
  pace.ended(clock.now());
  run.onRemoved(attempt);
}

/** Sets the timer to when the first run needs a poll. */
function plan(state: State, member: Member): void {
  const { clock, pace, timer, unwatch } = state;
  const { attempts, run } = member;
  if (state.isPolling || run.session.stopped) return;
  if (attempts.size === 0) {
    member.dueAt = undefined;
    return;
  }
  const waitMs = () => pace.interval(run.session.clock.now(), attempts.values(), unwatch !== undefined);
  member.dueAt ??= clock.now() + waitMs();
  if (timer !== undefined && timer.at <= member.dueAt) return;
  timer?.cancel();
  state.timer = { at: member.dueAt, cancel: clock.setTimer(member.dueAt, () => void pollNow(state)) };
}

function leave({ members, tracked, timer, unwatch, onEmpty }: State, member: Member): void {
  members.delete(member);
  for (const id of member.attempts.keys()) tracked.delete(id);
  if (members.size > 0) return;
  timer?.cancel();
  unwatch?.();
  onEmpty();
}

function isDue({ dueAt, attempts, leaseSeenAt }: Member, now: number): boolean {
  return attempts.size > 0 && ((dueAt !== undefined && dueAt <= now) || now - leaseSeenAt >= LEASE_MS);
}

/** A runner with nothing to write would otherwise never learn that another one has replaced it. */
function ownsLease(member: Member, now: number): boolean {
  const { session } = member.run;
  member.leaseSeenAt = now;
  try {
    return !session.stopped && session.ownsLease();
  } catch (error) {
    session.fail(error);
    return false;
  }
}

function listLive({ run, attempts }: Member): Polled[] {
  if (run.session.stopped) return [];
  const live = [...attempts.values()].filter(({ confirmed, closed }) => confirmed && !closed);
  return live.map((attempt) => ({ run, attempt }));
}
