import { type BoundItem, bindListed, hasLateValues, type KeyValues, type Plan } from '@sluice/core';
import { TERMINAL_CELL_STATES } from '../../src/scheduler/model/cell-state.ts';
import type { Command } from '../../src/scheduler/model/command.ts';
import type { Outcome, PostponeReason, SchedulerEvent } from '../../src/scheduler/model/event.ts';
import type { SchedulerOptions } from '../../src/scheduler/model/scheduler-options.ts';
import { createScheduler, type Scheduler } from '../../src/scheduler/scheduler.ts';
import { createRandom, type Random } from '../random.ts';
import { createLawBook } from './law-book.ts';
import { listKey } from './listed-cells.ts';

/** The record of a simulated run: enough to replay it. */
export interface SimulatedRun {
  readonly scheduler: Scheduler;
  readonly events: readonly SchedulerEvent[];
  /** The commands that followed each event. */
  readonly commands: readonly (readonly Command[])[];
  /** The commands without an answer after each event. */
  readonly open: readonly (readonly Command[])[];
}

/** A container as the simulated service has it. */
interface Container {
  readonly step: number;
  readonly cell: number;
  readonly attempt: number;
  phase: 'pending' | 'running';
  ready: boolean;
  cancelAsked: boolean;
}

export interface SimulationOptions extends SchedulerOptions {
  /** Default: the scheduler of the package. */
  readonly create?: typeof createScheduler;
  readonly seed: string;
  /** Probability of a user's cancellation at each step of the simulation. */
  readonly cancels?: number;
  /** Probability of a crash at each step: the scheduler is discarded and restored from its events. */
  readonly crashes?: number;
  /** Probability that a container fails. */
  readonly failures?: number;
}

/**
 * A shell and a service in one, in virtual time: answers the scheduler's commands in a random order with random
 * results, late and stale answers among them, and holds every law after every event.
 */
export function simulate(plan: Plan, options: SimulationOptions): SimulatedRun {
  const random = createRandom(options.seed);
  const events: SchedulerEvent[] = [];
  const commands: Command[][] = [];
  const opens: Command[][] = [];
  const laws = createLawBook(plan, options);
  const containers = new Map<string, Container>();
  const { create = createScheduler } = options;
  let scheduler = create(plan, options);
  let open: Command[] = [];
  let now = 1000;

  const send = (event: SchedulerEvent): void => {
    events.push(event);
    laws.onEvent(event);
    const answer = scheduler.handle(event);
    laws.onHandled(event, scheduler);
    open.push(...answer.filter(({ type }) => type !== 'wake'));
    const wake = answer.findLast(({ type }) => type === 'wake');
    if (wake !== undefined || event.type === 'tick') {
      open = [...open.filter(({ type }) => type !== 'wake'), ...(wake === undefined ? [] : [wake])];
    }
    if (scheduler.isFinished) open = open.filter(({ type }) => type === 'finish');
    commands.push([...answer]);
    scheduler.assertInvariants();
    laws.rest(scheduler);
    for (const command of answer) laws.see(command, scheduler);
    opens.push([...open]);
  };
  const drop = (command: Command): void => {
    open = open.filter((other) => other !== command);
  };

  send({ type: 'started', at: now });
  for (let turn = 0; turn < 5000 && !scheduler.isFinished; turn++) {
    now += random.below(50);
    // Clocks can also be set back.
    if (random.chance(0.01)) now -= random.below(2000);
    if (random.chance(options.crashes ?? 0)) {
      scheduler = create(plan, options);
      for (const event of events) scheduler.handle(event);
      const asked = scheduler.resume();
      expectSame(
        asked,
        open.filter((command) => isWanted(command, scheduler)),
      );
      open = asked;
    }
    if (random.chance(options.cancels ?? 0)) {
      send({ type: 'cancelRequested', at: now, by: 'user' });
      continue;
    }
    if (random.chance(0.05)) sendLate({ events, random, now, send });
    if (random.chance(0.02)) send({ type: 'tick', at: now });
    if (random.chance(0.1)) sendRoom({ events, random, now, send });
    const work: (Command | Container)[] = [
      ...open.filter(({ type }) => type !== 'wake' && type !== 'finish' && type !== 'cancel'),
      ...[...containers.values()].filter((container) => canMove(container, { plan, random, open })),
    ];
    const wake = open.find((command) => command.type === 'wake');
    if (wake !== undefined && (work.length === 0 || random.chance(0.1))) {
      now = Math.max(now, wake.at);
      send({ type: 'tick', at: now });
      continue;
    }
    if (work.length === 0) {
      if (scheduler.stuck() === undefined) break;
      laws.stuck(scheduler);
      send({ type: 'stuck', at: now, message: 'nothing would free the room' });
      continue;
    }
    const chosen = random.pick(work);
    const turn = { plan, random, now, containers, open, drop, failures: options.failures ?? 0.25 };
    send('type' in chosen ? answer({ ...turn, command: chosen }) : move({ ...turn, container: chosen }));
  }
  laws.end();
  return { scheduler, events, commands, open: opens };
}

/** A ready service runs until it is canceled; occasionally it dies. */
function canMove(
  { step, cell, phase, ready }: Container,
  { plan, random, open }: Pick<Turn, 'plan' | 'random' | 'open'>,
): boolean {
  const serves = plan.steps[step]!.step.service !== undefined && phase === 'running' && ready;
  return !serves || random.chance(0.05) || cancelOf(open, { step, cell }) !== undefined;
}

function cancelOf(open: readonly Command[], { step, cell }: { step: number; cell: number }): Command | undefined {
  return open.find((other) => other.type === 'cancel' && other.step === step && other.cell === cell);
}

interface Turn {
  readonly plan: Plan;
  readonly random: Random;
  readonly now: number;
  readonly containers: Map<string, Container>;
  readonly open: readonly Command[];
  readonly drop: (command: Command) => void;
}

function answer({ command, ...turn }: Turn & { readonly command: Command }): SchedulerEvent {
  const { plan, random, now: at, drop } = turn;
  drop(command);
  switch (command.type) {
    case 'decide': {
      const { step } = command;
      const gate = { at, step, ...(command.cell !== undefined && { cell: command.cell }) };
      if (random.chance(0.1)) return { type: 'evaluationFailed', ...gate, message: 'no such key' };
      if (plan.steps[step]!.step.when !== undefined && random.chance(0.3)) return { type: 'skipped', ...gate };
      const cells = plan.steps[step]!.cells?.length ?? random.below(5);
      return { type: 'decided', ...gate, cells, ...lateValues(turn, command, cells) };
    }
    case 'lookUp': {
      const { step, cell } = command;
      if (random.chance(0.3)) return { type: 'cacheHit', at, step, cell, ...listOf(turn, { step, cell }) };
      return { type: 'cacheMissed', at, step, cell };
    }
    case 'askApproval': {
      const gate = { at, step: command.step, ...(command.cell !== undefined && { cell: command.cell }) };
      return { type: 'approved', ...gate, approved: random.chance(0.8), by: 'somebody' };
    }
    case 'publish': {
      const { step, cell, attempt } = command;
      if (random.chance(0.9)) return { type: 'published', at, step, cell, attempt, ...listOf(turn, { step, cell }) };
      return { type: 'ended', at, step, cell, attempt, outcome: failure(random) };
    }
    case 'submit':
      return create({ command, ...turn });
    default:
      throw new Error(`the shell does not answer ${command.type} by itself`);
  }
}

/** The values of the decided cells that the plan does not know. */
function lateValues(
  { plan, random }: Pick<Turn, 'plan' | 'random'>,
  { step, cell }: { readonly step: number; readonly cell?: number },
  cells: number,
): { values?: readonly KeyValues[] } {
  if (!hasLateValues(plan, step)) return {};
  const value = () => ({ timeout: 1 + random.below(5000), 'retry.limit': random.below(3) });
  return { values: Array.from({ length: cell === undefined ? cells : 1 }, value) };
}

/** The items that a cell has listed, if its step lists any. */
function listOf(
  { plan, random }: Pick<Turn, 'plan' | 'random'>,
  at: { readonly step: number; readonly cell: number },
): { readonly lists?: { l: number }; readonly bound?: readonly (readonly BoundItem[])[] } {
  if (plan.axes?.l?.listedBy !== plan.steps[at.step]!.step.name) return {};
  const items = Array.from({ length: random.below(4) }, (_, item) => ({ key: listKey(item), item }));
  return { lists: { l: items.length }, ...bindListed(plan, at, { l: items }) };
}

const POSTPONEMENTS: readonly PostponeReason[] = [
  'quota',
  'throttled',
  'pool',
  'volume',
  'unavailable',
  'storage',
  'placement',
];

function create({
  command,
  random,
  now: at,
  containers,
  open,
  drop,
}: Turn & { readonly command: Extract<Command, { type: 'submit' }> }): SchedulerEvent {
  const { step, cell, attempt } = command;
  const cancel = cancelOf(open, command);
  if (random.chance(0.15)) {
    if (cancel !== undefined) drop(cancel);
    return {
      type: 'postponed',
      at,
      step,
      cell,
      attempt,
      reason: random.pick(POSTPONEMENTS),
      until: at + random.below(500),
    };
  }
  if (random.chance(0.05)) {
    if (cancel !== undefined) drop(cancel);
    return { type: 'ended', at, step, cell, attempt, outcome: { ...failure(random), permanent: true } };
  }
  containers.set(`${step}/${cell}`, {
    step,
    cell,
    attempt,
    phase: 'pending',
    ready: false,
    cancelAsked: cancel !== undefined,
  });
  return { type: 'submitted', at, step, cell, attempt };
}

function move({
  container,
  failures,
  ...turn
}: Turn & { readonly container: Container; readonly failures: number }): SchedulerEvent {
  const { plan, random, now: at, containers, open, drop } = turn;
  const { step, cell, attempt } = container;
  const cancel = cancelOf(open, container);
  container.cancelAsked = cancel !== undefined;
  const { timeoutMs, perCell } = plan.steps[step]!.step;
  const isTimed = timeoutMs !== undefined || perCell !== undefined;
  if (container.phase === 'pending' && isTimed && random.chance(0.2))
    return { type: 'pulling', at, step, cell, attempt };
  if (container.phase === 'pending' && !container.cancelAsked && random.chance(0.9)) {
    container.phase = 'running';
    container.ready = plan.steps[step]!.step.service?.ready === undefined;
    return { type: 'running', at, step, cell, attempt };
  }
  if (container.phase === 'running' && !container.ready && !container.cancelAsked && random.chance(0.8)) {
    if (random.chance(0.1)) return { type: 'notReady', at, step, cell, attempt, message: 'rejected' };
    container.ready = true;
    return { type: 'serviceReady', at, step, cell, attempt };
  }
  containers.delete(`${step}/${cell}`);
  if (cancel !== undefined) drop(cancel);
  return {
    type: 'ended',
    at,
    step,
    cell,
    attempt,
    outcome: outcome({ random, failures, canceled: container.cancelAsked }),
  };
}

function outcome({ random, failures, canceled }: { random: Random; failures: number; canceled: boolean }): Outcome {
  if (canceled && random.chance(0.8)) return { result: 'canceled' };
  if (random.chance(0.02)) return { result: 'canceled' };
  return random.chance(failures) ? failure(random) : { result: 'succeeded' };
}

function failure(random: Random): Extract<Outcome, { result: 'failed' }> {
  const exitCode = random.pick([1, 2, 137]);
  return {
    result: 'failed',
    class: random.pick(['failed', 'oom', 'timeout', 'infrastructure'] as const),
    exitCode,
    message: 'no',
  };
}

/** Repeats an earlier event, as a slow poll or a repeated reply does. Ends of the current attempt are not repeated. */
function sendLate(turn: {
  events: readonly SchedulerEvent[];
  random: Random;
  now: number;
  send: (event: SchedulerEvent) => void;
}): void {
  const event = turn.random.pick(turn.events);
  if (event.type !== 'submitted' && event.type !== 'running' && event.type !== 'ended') return;
  const later = turn.events.some(
    (other) =>
      'attempt' in other && other.step === event.step && other.cell === event.cell && other.attempt > event.attempt,
  );
  if (later) turn.send({ ...event, at: turn.now });
}

/** The capacity that a submission was postponed for becomes free, soon or much later. */
function sendRoom({ events, random, now: at, send }: Parameters<typeof sendLate>[0]): void {
  const event = random.pick(events);
  if (event.type !== 'postponed') return;
  send({ type: 'capacityFreed', at, step: event.step, cell: event.cell, attempt: event.attempt });
}

/** A lookup, decision or approval of a step that was stopped meanwhile is not requested again: its answer would be late. */
function isWanted(command: Command, scheduler: Scheduler): boolean {
  if (!('step' in command)) return true;
  const state = scheduler.state(command.step, ('cell' in command ? command.cell : undefined) ?? 0);
  return !TERMINAL_CELL_STATES.has(state);
}

function expectSame(asked: readonly Command[], open: readonly Command[]): void {
  const text = (commands: readonly Command[]) =>
    commands
      .map((command) => JSON.stringify(command))
      .sort()
      .join('\n');
  if (text(asked) !== text(open))
    throw new Error(`resume asks for\n${text(asked)}\nwhere this was open:\n${text(open)}`);
}
