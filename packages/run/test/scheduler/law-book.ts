import type { KeyValues, Plan, Step } from '@sluice/core';
import type { Command } from '../../src/scheduler/model/command.ts';
import type { SchedulerEvent } from '../../src/scheduler/model/event.ts';
import type { SchedulerOptions } from '../../src/scheduler/model/scheduler-options.ts';
import type { Scheduler } from '../../src/scheduler/scheduler.ts';
import { createItemLaws } from './item-laws.ts';
import { createListedCells, EMPTY } from './listed-cells.ts';
import { type Meaning, meantCells } from './meant-cells.ts';

/** Tracks a run from its events and commands alone, and throws if a law is violated. */
export interface LawBook {
  onEvent(event: SchedulerEvent): void;
  onHandled(event: SchedulerEvent, scheduler: Scheduler): void;
  see(command: Command, scheduler: Scheduler): void;
  /** After the commands of an event. */
  rest(scheduler: Scheduler): void;
  /** Before the event `stuck`. */
  stuck(scheduler: Scheduler): void;
  end(): void;
}

export function createLawBook(given: Plan, options: SchedulerOptions = {}): LawBook {
  const lists = createListedCells(given);
  const { plan } = lists;
  /** Attempt of each cell that has been submitted and has not ended. */
  const live = new Map<string, number>();
  /** The latest attempt of each cell whose end was received. */
  const over = new Map<string, number>();
  const ran = new Set<string>();
  /** Attempts of services that were reported as not ready before they were ready. */
  const unready = new Set<string>();
  const asked = new Set<string>();
  /** Since when each current attempt has been pending, its image pulled, and running. */
  const since = {
    pending: new Map<string, number>(),
    pulling: new Map<string, number>(),
    running: new Map<string, number>(),
  };
  /** Until when a cell is postponed or in backoff. */
  const notBefore = new Map<string, number>();
  /** When each cell was first submitted: its deadline counts from then. */
  const begun = new Map<string, number>();
  /** Cells whose deadline a tick has passed. */
  const expired = new Set<string>();
  /** Expired cells whose live attempt has not been canceled. */
  const toCancel = new Set<string>();
  /** The values of cells that were told when they were decided. */
  const late = new Map<string, KeyValues>();
  const itemLaws = createItemLaws(plan, law);
  let now = 0;
  let finished = false;

  function submit({ step, cell, attempt }: Extract<Command, { type: 'submit' }>, scheduler: Scheduler): void {
    const key = `${step}/${cell}`;
    law(!notBefore.has(key), `${key} is submitted at ${now}, and is put off until ${notBefore.get(key)}`);
    law(!live.has(key), `${key} is submitted while attempt ${live.get(key)} lives`);
    const next = (over.get(key) ?? 0) + 1;
    law(attempt === next, `${key} is submitted as attempt ${attempt}, the next one is ${next}`);
    const { limit, infrastructure } = { ...plan.steps[step]!.step.retry, ...ownValues(step, cell) };
    law(attempt <= 1 + limit + infrastructure, `${key} is submitted as attempt ${attempt}, beyond its budgets`);
    checkTolerance(step, scheduler);
    itemLaws.submit({ step, cell }, scheduler);
    law(!expired.has(key), `${key} is submitted as attempt ${attempt} after its deadline`);
    if (!begun.has(key)) begun.set(key, now);
    live.set(key, attempt);
    checkLimits();
    for (const { on, condition, given } of dependenciesOf(step, cell, scheduler))
      law(given, `${key} starts before step ${on} has ${condition}`);
    if (!plan.steps[step]!.final) return;
    for (const other of plan.steps) {
      if (other.final) continue;
      law(isFinished(scheduler, other.index), `${key} of finally starts before step ${other.index} is over`);
    }
  }

  /** A limit of failures that has been passed lets no further cell of the step start. */
  function checkTolerance(step: number, scheduler: Scheduler): void {
    const planned = plan.steps[step]!;
    if (typeof planned.step.continueOnError === 'boolean') return;
    const count = lists.count(step, scheduler);
    if (typeof planned.step.continueOnError === 'string' && !lists.areComplete(step, scheduler)) return;
    const failed = Array.from({ length: scheduler.cellCount(step)! }, (_, cell) => scheduler.state(step, cell)).filter(
      (state) => FAILED.includes(state),
    ).length;
    const allowed = allowedFailures(planned.step, count);
    law(failed <= allowed, `a cell of step ${step} starts after ${failed} failures, of which ${allowed} are tolerated`);
  }

  /** The run has failed if a step has more failures than it tolerates, and without a cancellation only then. */
  function checkStatus(scheduler: Scheduler): void {
    const isBeyond = plan.steps.some(({ index, step }) => {
      const states = Array.from({ length: scheduler.cellCount(index) ?? 0 }, (_, cell) => scheduler.state(index, cell));
      const failed = states.filter((state) => FAILED.includes(state)).length;
      return failed > allowedFailures(step, lists.count(index, scheduler));
    });
    if (isBeyond) law(scheduler.status !== 'succeeded', 'the run succeeds with more failures than a step tolerates');
  }

  function noteValues({ step, cell = 0, values = [] }: Extract<SchedulerEvent, { type: 'decided' }>): void {
    for (const [index, told] of values.entries()) late.set(`${step}/${cell + index}`, told);
  }

  /** What a cell has of its own. See `arbitraryPlan`: an item is its own number. */
  function ownValues(step: number, cell: number): { timeoutMs?: number; limit?: number; pools?: Step['pools'] } {
    const { each = [], perCell } = plan.steps[step]!.step;
    const told = late.get(`${step}/${cell}`);
    if (told !== undefined) return { timeoutMs: told.timeout as number, limit: told['retry.limit'] as number };
    const item = plan.steps[step]!.cells?.[cell]?.each?.[each[0]!];
    return perCell === undefined
      ? {}
      : { timeoutMs: 1000 * (item! + 1), limit: item! % 3, pools: { p: (item! % 2) + 1 } };
  }

  function dependenciesOf(step: number, cell: number, scheduler: Scheduler) {
    const { dependencies } = plan.steps[step]!;
    return dependencies.map((dependency) => ({
      ...dependency,
      given: isGiven({ plan, scheduler, ran, step, cell, dependency }),
    }));
  }

  /** A cell that was skipped because of another one, or because it has none to read, must be so. */
  function checkSkips(scheduler: Scheduler): void {
    for (const { index: step, cells } of plan.steps) {
      for (let cell = 0; cell < (cells?.length ?? 0); cell++) {
        const cause = scheduler.skipCause(step, cell);
        const isEmpty = cells![cell]!.key === EMPTY;
        if (scheduler.state(step, cell) !== 'skipped' || cause === undefined || isEmpty) continue;
        const isNamed = cause.kind === 'dependency' || cause.kind === 'noItem';
        const missed = dependenciesOf(step, cell, scheduler).filter(({ given }) => !given);
        if (isNamed) law(missed.length > 0, `${step}/${cell} is skipped by ${cause.kind}, and lacks nothing`);
      }
    }
  }

  /** The minimum wait of a postponed submission or a retry. */
  function putOff(key: string, event: Extract<SchedulerEvent, { attempt: number }>): void {
    const { backoff } = plan.steps[event.step]!.step.retry;
    if (event.type === 'postponed') notBefore.set(key, event.until);
    else if (event.type === 'ended' && event.outcome.result === 'failed') {
      notBefore.set(key, now + Math.min(backoff.maxMs, backoff.initialMs * backoff.factor ** (event.attempt - 1)) / 2);
    } else return;
    if (notBefore.get(key)! <= now) notBefore.delete(key);
  }

  /** The capacity is reserved for the next attempt. */
  function asks({ step, cell, attempt }: { step: number; cell: number; attempt: number }): boolean {
    return attempt === (over.get(`${step}/${cell}`) ?? 0) + 1;
  }

  function checkLimits(): void {
    const used = new Map<string, number>();
    const add = (name: string, amount: number) => used.set(name, (used.get(name) ?? 0) + amount);
    for (const key of live.keys()) {
      const [at, cell] = key.split('/').map(Number);
      const { step, index } = plan.steps[at!]!;
      add('all', 1);
      add(`step ${step.name}`, 1);
      for (const limit of options.limits?.(index, cell!) ?? []) add(`limit ${limit.key}`, limit.amount ?? 1);
      for (const [pool, amount] of Object.entries({ ...step.pools, ...ownValues(at!, cell!).pools }))
        add(`pool ${pool}`, amount);
    }
    const { parallelism = Infinity, pools } = plan.pipeline;
    const within = (name: string, size: number) =>
      law((used.get(name) ?? 0) <= size, `${name} is used ${used.get(name)} times of ${size}`);
    within('all', Math.min(parallelism, options.parallelism ?? Infinity));
    for (const [pool, size] of Object.entries(pools)) within(`pool ${pool}`, size);
    for (const { step, index, cells = [] } of plan.steps) {
      within(`step ${step.name}`, step.parallelism ?? Infinity);
      for (const cell of [0, ...cells.keys()])
        for (const { key, size } of options.limits?.(index, cell) ?? []) within(`limit ${key}`, size);
    }
  }

  function cancel({ step, cell, attempt, reason }: Extract<Command, { type: 'cancel' }>): void {
    const key = `${step}/${cell}`;
    law(live.get(key) === attempt, `attempt ${attempt} of ${key} is cancelled and does not live`);
    toCancel.delete(key);
    if (reason === 'deadline') law(expired.has(key), `${key} is cancelled for its deadline at ${now}, too early`);
    if (reason === 'notReady')
      law(unready.has(`${key}#${attempt}`), `${key} is cancelled as not ready and was not found so`);
    if (reason !== 'timeout' && reason !== 'queueTimeout' && reason !== 'pullTimeout') return;
    const { queueTimeoutMs, timeoutMs } = { ...plan.steps[step]!.step, ...ownValues(step, cell) };
    const [from, allowed] = {
      timeout: [since.running, timeoutMs] as const,
      queueTimeout: [since.pending, queueTimeoutMs] as const,
      pullTimeout: [since.pulling, timeoutMs] as const,
    }[reason];
    const waited = now - from.get(key)!;
    law(waited >= allowed!, `${key} is cancelled for its ${reason} of ${allowed} after ${waited}`);
  }

  /** A service ends after all that use it; without `each`, all of its cells end if one can no longer become ready. */
  function checkUsers({ step, cell }: Extract<Command, { type: 'cancel' }>, scheduler: Scheduler): void {
    const service = plan.steps[step]!;
    const cells = Array.from({ length: scheduler.cellCount(step) ?? 1 }, (_, index) => index);
    const isBroken = cells.some((one) => OVER.includes(scheduler.state(step, one)) && !ran.has(`${step}/${one}`));
    for (const { index, final, dependencies } of plan.steps) {
      const users = Array.from({ length: scheduler.cellCount(index) ?? 1 }, (_, user) => user);
      for (const dependency of dependencies) {
        if (dependency.on !== step || final !== service.final || !USES.includes(dependency.condition)) continue;
        if (isBroken && service.step.each === undefined) continue;
        for (const user of users) {
          const question = { plan, scheduler, ran, step: index, cell: user, dependency };
          if (!meantCells(question, step).includes(cell)) continue;
          law(OVER.includes(scheduler.state(index, user)), `${step}/${cell} ends while ${index}/${user} uses it`);
        }
      }
    }
  }

  function passDeadlines(): void {
    for (const [key, at] of begun) {
      const [step, cell] = key.split('/').map(Number) as [number, number];
      const { deadlineMs } = plan.steps[step]!.step;
      if (deadlineMs === undefined || at + deadlineMs > now || expired.has(key)) continue;
      expired.add(key);
      if (live.has(key) && !isCancelAsked(step, cell)) toCancel.add(key);
    }
  }

  function isCancelAsked(step: number, cell: number): boolean {
    const attempt = live.get(`${step}/${cell}`);
    return asked.has(JSON.stringify({ type: 'cancel', step, cell, attempt }));
  }

  return {
    onEvent(event) {
      law(toCancel.size === 0, `${[...toCancel].join(', ')} lives after its deadline and is not cancelled`);
      now = event.at;
      if (event.type === 'tick') passDeadlines();
      for (const [key, until] of notBefore) if (until <= now) notBefore.delete(key);
      if (event.type === 'decided') noteValues(event);
      if (!('attempt' in event)) return;
      const key = `${event.step}/${event.cell}`;
      const present = live.get(key) === event.attempt;
      if (present) putOff(key, event);
      if (event.type === 'capacityFreed' && asks(event)) notBefore.delete(key);
      if (present && event.type === 'submitted') since.pending.set(key, now);
      if (present && event.type === 'submitted') since.pulling.delete(key);
      // A pull is reported again after a resume, and the clock can have been set back meanwhile.
      if (present && event.type === 'pulling') since.pulling.set(key, Math.min(now, since.pulling.get(key) ?? now));
      if (present && event.type === 'running') since.running.set(key, now);
      if (event.type === 'ended') {
        if (event.attempt > (over.get(key) ?? 0)) over.set(key, event.attempt);
        if (present) live.delete(key);
      } else if (event.type === 'postponed') live.delete(key);
      else if (event.type === 'serviceReady') ran.add(key);
      else if (event.type === 'notReady') unready.add(`${key}#${event.attempt}`);
      else if (event.type === 'running' && plan.steps[event.step]!.step.service?.ready === undefined) ran.add(key);
    },
    onHandled(event, scheduler) {
      lists.onHandled(event, scheduler);
      if ('lists' in event) itemLaws.forget();
    },
    see(command, scheduler) {
      law(!finished, `${command.type} comes after the end`);
      if (command.type === 'submit') return submit(command, scheduler);
      if (command.type === 'wake') return;
      if (command.type === 'finish') {
        finished = true;
        for (const { index } of plan.steps) law(isFinished(scheduler, index), `the run is over, step ${index} is not`);
        checkSkips(scheduler);
        checkStatus(scheduler);
        return;
      }
      const key = JSON.stringify({ ...command, reason: undefined });
      law(!asked.has(key), `${key} is asked twice`);
      asked.add(key);
      if (command.type !== 'cancel') return;
      if (command.reason === 'noLongerNeeded') checkUsers(command, scheduler);
      cancel(command);
    },
    rest: itemLaws.rest,
    end() {
      law(finished, 'nothing is under way and no time is waited for, but the run is neither finished nor stuck');
    },
    stuck(scheduler) {
      const reason = JSON.stringify(scheduler.stuck());
      const services = plan.steps.some(({ step }) => step.service !== undefined);
      law(services, `the run is stuck without a service that could hold room: ${reason}`);
      law(scheduler.counts().ready > 0, `the run is stuck, and nothing waits for room: ${reason}`);
    },
  };
}

function law(holds: boolean, message: string): void {
  if (!holds) throw new Error(`broken law: ${message}`);
}

const OVER: readonly string[] = ['succeeded', 'failed', 'errored', 'timedOut', 'canceled', 'skipped', 'cached'];

const USES: readonly string[] = ['succeeded', 'running'];

const EARLY: readonly string[] = [...USES, 'skipped'];

const FAILED: readonly string[] = ['failed', 'errored', 'timedOut'];

/** What `continueOnError` means for this many cells, written down once more. */
function allowedFailures({ continueOnError }: Pick<Step, 'continueOnError'>, cells: number): number {
  if (typeof continueOnError === 'boolean') return continueOnError ? cells : 0;
  if (typeof continueOnError === 'number') return continueOnError;
  return Math.floor((Number.parseInt(continueOnError, 10) * cells) / 100);
}

function isFinished(scheduler: Scheduler, step: number): boolean {
  return OVER.includes(scheduler.state(step));
}

interface Question extends Meaning {
  readonly ran: ReadonlySet<string>;
}

/** Decides independently of `judge-gate.ts` and of the matching in core, whether a cell may start as far as an edge goes. */
function isGiven(question: Question): boolean {
  const { plan, scheduler, step, dependency } = question;
  const { inputs } = plan.steps[step]!.step;
  const rules = inputs[dependency.input ?? ''];
  const ends = (on: number): readonly string[] =>
    // An empty list of `foreach` succeeds without a cell.
    scheduler.cellCount(on) === 0 && plan.steps[on]!.step.foreach !== undefined
      ? [scheduler.state(on)]
      : meantCells(question, on).map((cell) => scheduler.state(on, cell));
  if (rules?.optional === true) return ends(dependency.on).every((state) => OVER.includes(state));
  if (rules?.or === undefined) return isMet(question, ends(dependency.on));
  const sources = plan.steps[step]!.dependencies.filter(({ input }) => input === dependency.input);
  const named = [rules.from, ...rules.or].map((source) =>
    sources.find(({ on }) => 'step' in source && plan.steps[on]!.step.name === source.step),
  );
  const all = named.map((source) => ({ ...question, dependency: source! }));
  const first = all.find((one) => ends(one.dependency.on).some((state) => state !== 'skipped'));
  const isOver = all.every((one) => ends(one.dependency.on).every((state) => OVER.includes(state)));
  return isOver && first !== undefined && isMet(first, ends(first.dependency.on));
}

function isMet(question: Question, ends: readonly string[]): boolean {
  const { plan, ran, step, cell, dependency } = question;
  const { on, condition, data } = dependency;
  const other = plan.steps[on]!;
  const isOfEach = other.step.each !== undefined;
  const isBetweenCells = plan.steps[step]!.step.each !== undefined && isOfEach;
  if (!isBetweenCells && plan.steps[step]!.final && !other.final && condition === 'succeeded' && !data) return true;
  const meant = meantCells(question, on);
  const allRan = meant.length > 0 && meant.every((index) => ran.has(`${on}/${index}`));
  // Of a service with `each`, every cell by itself counts from when it is ready, whatever it comes to later.
  const isReady = (at: number) =>
    isOfEach && other.step.service !== undefined && ran.has(`${on}/${meant[at]}`) && EARLY.includes(condition);
  const states = ends.map((state, at) => (isReady(at) ? 'succeeded' : state));
  const isOver = states.every((state) => OVER.includes(state));
  const has = (...wanted: string[]): boolean => states.some((state) => wanted.includes(state));
  const succeeded = has('succeeded', 'cached');
  const failed = has(...FAILED);
  if (condition === 'running') return allRan || (isOver && succeeded && !failed && !has('canceled', 'skipped'));
  if (condition === 'completed') return isOver;
  if (condition === 'skipped') return !failed && !has('canceled') && has('skipped') && (isOver || allRan);
  if (condition === 'failed') return isOver && failed;
  if (other.step.service !== undefined && allRan) return true;
  if (!isOver || !succeeded || has('canceled')) return false;
  const isSingle = isBetweenCells ? isFixed(plan, { step, cell, dependency }) : other.cells?.[0]?.key === '';
  const failures = states.filter((state) => FAILED.includes(state)).length;
  return isSingle ? failures === 0 && !has('skipped') : failures <= allowedFailures(other.step, states.length);
}

/** Whether the axes that both steps have leave only one cell to read, by the axes alone. */
function isFixed(plan: Plan, { step, dependency }: Pick<Question, 'step' | 'cell' | 'dependency'>): boolean {
  const { all: released = [], where } = plan.steps[step]!.step.inputs[dependency.input ?? ''] ?? {};
  if (Array.isArray(where?.l)) return false;
  const closure = (names: readonly string[]) =>
    new Set(names.flatMap((axis) => [axis, ...Object.keys(plan.axes![axis]!.implies)]));
  const kept = [...closure(plan.steps[step]!.step.each!)].filter(
    (axis) => !released.includes(axis) && !released.some((one) => plan.axes![axis]!.implies[one] !== undefined),
  );
  const their = closure(plan.steps[dependency.on]!.step.each!);
  const fixed = closure(kept.filter((axis) => their.has(axis)));
  return plan.steps[dependency.on]!.step.each!.every((axis) => fixed.has(axis));
}
