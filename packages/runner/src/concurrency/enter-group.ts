import { fail, type Plan, type Result } from '@sluice/core';
import {
  enteringDirectory,
  type GroupEntry,
  type OpenJournal,
  readGroup,
  readJournal,
  readSummary,
  releaseOnFailure,
  replaceGroup,
  runDirectory,
  sleep,
} from '@sluice/home';
import type { RunError, UnnumberedEvent } from '@sluice/run';
import { askRunner } from '../session/ask-runner.ts';
import type { EntryControl } from './control-entry.ts';
import { judgeMember, type MemberSource, type Membership } from './judge-member.ts';

/** A run that wants to enter a concurrency group. */
export interface GroupRequest extends MemberSource {
  readonly report: (event: UnnumberedEvent) => void;
  readonly plan: Plan;
  readonly group: string;
  readonly runId: string;
  /**
   * `start`: as the group's `overlap` says. `resume`: the same, but `replace` cancels no run that started later. `force`:
   * enters even if the group is full; others wait for it.
   */
  readonly mode: 'start' | 'resume' | 'force';
  /** When a run that is resumed started, in milliseconds since the epoch. */
  readonly createdAt?: number;
  /** Cancels a run that no process is executing. */
  readonly cancelLeft?: (runId: string, by: string) => Promise<unknown>;
  /** Requests about the run while it waits; absent for a new run, which no other process knows. */
  readonly control?: EntryControl;
}

const PAUSE_MS = 500;
/** How long a judgment that needed the journal and the service of another run is reused. */
const JUDGED_FOR_MS = 10_000;

interface Member {
  readonly entry: GroupEntry;
  readonly runId: string;
  readonly membership: Exclude<Membership, 'ended'>;
}

/** The result of one check of a group. */
interface GroupCheck extends Pick<Sifted, 'members'> {
  readonly admitted: boolean;
  /** Runs ahead of this one in the queue. */
  readonly before: readonly string[];
}

/**
 * Opens a run when its concurrency group has capacity (pipeline.md). A run keeps its place until it ends, or until no
 * process is executing it and the service reports that none of its containers runs. So a crash neither admits another
 * run while containers of the first still run, nor occupies a place forever. Waiting runs form a queue, first in, first
 * out; a run whose process has died has left it.
 */
export async function enterGroup(
  request: GroupRequest,
  open: () => Promise<Result<OpenJournal, RunError>>,
): Promise<Result<OpenJournal, RunError>> {
  const { disk, home, runId, group } = request;
  const entering = await disk.claim(enteringDirectory(runDirectory(home, runId)), request.control?.listener);
  if (!entering) {
    const message = `could not enter the concurrency group ${group}: another process is adding run ${runId} to it`;
    return fail({ code: 'RUN_IN_USE', message });
  }
  try {
    const wasMember = (await keepPlace(request)) === 'in';
    const rejection = wasMember ? undefined : await waitForPlace(request);
    const opened = rejection ?? (await open());
    if (opened.ok) await releaseOnFailure(opened.value, () => markOpened(request));
    else if (!wasMember) await leave(request);
    return opened;
  } finally {
    await entering.release();
  }
}

async function waitForPlace(request: GroupRequest): Promise<Result<never, RunError> | undefined> {
  const { clock, report, group, plan, control } = request;
  const { overlap, limit } = plan.pipeline.concurrency!;
  const mayWait = overlap !== 'fail';
  const judge = createJudge(request);
  const canceling = createCanceling(request);
  for (let hasWarned = false; ; ) {
    if (control?.isLeft() === true) return fail(describeLeft(request));
    const mode = control?.canceledBy() === undefined ? request.mode : 'force';
    const check = await checkGroup({ ...request, mode }, { judge, mayWait });
    if (check.admitted) return undefined;
    const replaced = overlap === 'replace' ? findReplaced(check.members, limit) : [];
    if (!mayWait || !(await mayReplace(request, replaced))) {
      return fail({ code: 'GROUP_BUSY', message: describeBusy(group, check) });
    }
    const canceled = overlap === 'replace' && (await canceling(replaced));
    if (!canceled && !hasWarned) {
      report({
        type: 'warning',
        at: clock.now(),
        message: `${describeBusy(group, check)}; waiting`,
      });
      hasWarned = true;
    }
    await sleep(clock, PAUSE_MS);
  }
}

type Judge = (entry: GroupEntry) => Promise<Membership>;

/**
 * Runs with a living runner and ended runs are recognized at once; for the others, the judgment is reused for a while.
 * The judgment `idle` is reused only if an idle run keeps its place anyway: otherwise it would lose the place to stale
 * information.
 */
function createJudge(request: GroupRequest): Judge {
  const known = new Map<string, { readonly until: number; readonly membership: Membership }>();
  const { disk, home, clock } = request;
  return async (entry) => {
    const { runId } = entry;
    const last = known.get(runId);
    const isExecuted = (await disk.ask(runDirectory(home, runId), '')) !== undefined;
    if (isExecuted) return 'executing';
    if (last !== undefined && clock.now() < last.until) return last.membership;
    const membership = await judgeMember(request, entry);
    if (membership === 'left' || (membership === 'idle' && endsIdle(request)))
      known.set(runId, { until: clock.now() + JUDGED_FOR_MS, membership });
    else known.delete(runId);
    return membership;
  };
}

/** Whether this run also cancels idle runs, which could be resumed and continue the work that this run replaces. */
function endsIdle({ mode, plan }: GroupRequest): boolean {
  return mode === 'start' && plan.pipeline.concurrency!.overlap === 'replace';
}

/** A run that had its place before a crash keeps it. Incrementing `turn` makes other runs judge it again. */
async function keepPlace(request: GroupRequest): Promise<GroupEntry['state'] | undefined> {
  const { group, runId } = request;
  for (;;) {
    const from = await readGroup(request, group);
    const state = from.find((entry) => entry.runId === runId)?.state;
    if (state !== 'in') return state;
    const to = from.map((entry) => (entry.runId === runId ? { ...entry, turn: entry.turn + 1 } : entry));
    if (await replaceGroup(request, group, { from, to })) return state;
  }
}

/**
 * One check of the group: removes ended runs, and acquires a place or joins the queue. Repeated if the group changes
 * meanwhile.
 */
async function checkGroup(
  request: GroupRequest,
  given: { readonly judge: Judge; readonly mayWait: boolean },
): Promise<GroupCheck> {
  const { group, runId, plan, mode } = request;
  const { limit } = plan.pipeline.concurrency!;
  for (;;) {
    const from = await readGroup(request, group);
    const sifted = await sift(request, from, given.judge);
    const members = sifted.members.filter(({ membership }) => endsIdle(request) || membership !== 'idle');
    const { before, behind } = sifted;
    const admitted = mode === 'force' || members.length + before.length < limit;
    const self: GroupEntry = admitted
      ? { group, runId, state: 'in', turn: 1, ...(mode === 'start' && { isOpening: true as const }) }
      : { group, runId, state: 'waiting', turn: 1 };
    const to = [
      ...members.map(({ entry }) => entry),
      ...(admitted ? [self] : []),
      ...before,
      ...(admitted || !given.mayWait ? [] : [self]),
      ...behind,
    ];
    if (await replaceGroup(request, group, { from, to })) {
      return { admitted, members, before: before.map((entry) => entry.runId) };
    }
  }
}

interface Sifted {
  /** Runs that have a place, oldest first. */
  readonly members: readonly Member[];
  /** Waiting runs with a living process, ahead of this one and behind it. */
  readonly before: readonly GroupEntry[];
  readonly behind: readonly GroupEntry[];
}

/** Sorts the other runs of a group into members and waiting runs; ended runs are left out. */
async function sift(
  { disk, home, runId }: GroupRequest,
  entries: readonly GroupEntry[],
  judge: Judge,
): Promise<Sifted> {
  const members: Member[] = [];
  const before: GroupEntry[] = [];
  const behind: GroupEntry[] = [];
  let queue = before;
  for (const entry of entries) {
    if (entry.runId === runId) queue = behind;
    else if (entry.state === 'waiting') {
      if ((await disk.ask(enteringDirectory(runDirectory(home, entry.runId)), '')) !== undefined) queue.push(entry);
    } else {
      const membership = await judge(entry);
      if (membership !== 'ended') members.push({ entry, runId: entry.runId, membership });
    }
  }
  return { members, before, behind };
}

/** The runs that must end before another one can enter: the oldest, as many as exceed the limit then. */
function findReplaced(members: readonly Member[], limit: number): readonly Member[] {
  return members.slice(0, Math.max(0, members.length - limit + 1));
}

/** A run that is resumed replaces only runs that started before it. */
async function mayReplace(
  { disk, home, mode, createdAt }: GroupRequest,
  replaced: readonly Member[],
): Promise<boolean> {
  if (mode !== 'resume' || createdAt === undefined) return true;
  const summaries = await Promise.all(replaced.map(({ runId }) => readSummary(disk, runDirectory(home, runId))));
  return summaries.every((summary) => summary !== undefined && summary.createdAt < createdAt);
}

/** Requests cancellation of runs. Returns whether any has accepted. */
function createCanceling({ disk, home, clock, runId, group, cancelLeft }: GroupRequest) {
  const by = `run ${runId} of group ${group}`;
  /** Runs that have accepted the request; a run that is just being resumed is asked again. */
  const asked = new Set<string>();
  /** When each run without a process was last resumed to be canceled. */
  const resuming = new Map<string, number>();
  return async (replaced: readonly Member[]): Promise<boolean> => {
    for (const { runId: other, membership } of replaced) {
      // What resumes a run to cancel it requests that by itself: a second request would also cancel its `finally` steps.
      const isResumed = clock.now() - (resuming.get(other) ?? Number.NEGATIVE_INFINITY) < JUDGED_FOR_MS;
      if (asked.has(other) || isResumed) continue;
      const directory = runDirectory(home, other);
      if (membership !== 'executing') {
        if (cancelLeft === undefined) continue;
        resuming.set(other, clock.now());
        void cancelLeft(other, by).catch(() => {});
      } else if (
        (await isBeingCanceled(disk, directory)) ||
        (await askRunner({ disk, clock }, directory, { verb: 'cancel', by })) === 'ok'
      )
        asked.add(other);
    }
    return asked.size + resuming.size > 0;
  };
}

async function isBeingCanceled(disk: GroupRequest['disk'], directory: string): Promise<boolean> {
  const journal = await readJournal(disk, directory);
  return (
    journal.ok && journal.value.records.some((one) => one.kind === 'event' && one.event.type === 'cancelRequested')
  );
}

function leave(request: GroupRequest): Promise<void> {
  return changeGroup(request, (entries) => entries.filter(({ runId }) => runId !== request.runId));
}

function markOpened(request: GroupRequest): Promise<void> {
  return changeGroup(request, (entries) =>
    entries.map(({ isOpening, ...entry }) => ({
      ...entry,
      ...(isOpening && entry.runId !== request.runId && { isOpening }),
    })),
  );
}

async function changeGroup(
  request: GroupRequest,
  change: (entries: readonly GroupEntry[]) => GroupEntry[],
): Promise<void> {
  for (;;) {
    const from = await readGroup(request, request.group);
    if (await replaceGroup(request, request.group, { from, to: change(from) })) return;
  }
}

function describeLeft({ group, runId }: GroupRequest): RunError {
  const message = `run ${runId} no longer waits for the concurrency group ${group}: another process requested it`;
  return { code: 'RUN_IN_USE', message };
}

function describeBusy(group: string, { members, before }: GroupCheck): string {
  const names = members.map(({ runId }) => runId).join(', ');
  const left = members.filter(({ membership }) => membership === 'left').map(({ runId }) => runId);
  const hint =
    left.length === 0
      ? ''
      : `; no process is executing run ${left.join(', ')}, and its containers may still run: resume or cancel it`;
  const queue = before.length === 0 ? '' : `; ahead of it in the queue: run ${before.join(', ')}`;
  return members.length === 0
    ? `the concurrency group ${group} is being entered${queue}`
    : `the concurrency group ${group} is taken by run ${names}${hint}${queue}`;
}
