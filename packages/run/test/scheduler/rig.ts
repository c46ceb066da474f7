import { bindListed, type Plan } from '@sluice/core';
import type { Command } from '../../src/scheduler/model/command.ts';
import type { Outcome, PostponeReason, SchedulerEvent } from '../../src/scheduler/model/event.ts';
import type { SchedulerOptions } from '../../src/scheduler/model/scheduler-options.ts';
import { createScheduler, type Scheduler } from '../../src/scheduler/scheduler.ts';
import { listKey } from './listed-cells.ts';

/**
 * Feeds a scheduler events that name cells by step and cell (`fit/2`, or `fit` for the first) and returns the commands
 * as text: `submit fit/2 #1`, `cancel fit #1 timeout`, `wake 500`, `finish failed`.
 */
export interface Rig {
  readonly scheduler: Scheduler;
  now: number;
  start(): string[];
  submitted(cell: string): string[];
  running(cell: string): string[];
  ready(cell: string): string[];
  /** A failure's class, or how it ended otherwise; default succeeded. */
  ended(cell: string, outcome?: Outcome | Outcome['result'] | 'oom' | 'infrastructure' | 'timeout'): string[];
  /** Submitted, running and succeeded. */
  done(cell: string): string[];
  postponed(cell: string, reason: PostponeReason, until: number): string[];
  published(cell: string): string[];
  /** Published, with so many items of the axis `l`. */
  listed(cell: string, size: number): string[];
  decided(step: string, cells?: number): string[];
  skipped(step: string): string[];
  cached(cell: string, hit: boolean): string[];
  approved(step: string, yes: boolean): string[];
  tick(at: number): string[];
  cancel(): string[];
  send(event: SchedulerEvent): string[];
  state(cell: string): string;
  /** `name state` of every step, in order. */
  states(): string;
}

export function createRig(plan: Plan, options: SchedulerOptions = {}): Rig {
  const scheduler = createScheduler(plan, options);
  const number = (name: string) => {
    const index = plan.steps.findIndex(({ step }) => step.name === name);
    if (index < 0) throw new Error(`the plan has no step ${name}`);
    return index;
  };
  const place = (text: string) => {
    const [name = '', cell = '0'] = text.split('/');
    return { step: number(name), cell: Number(cell) };
  };
  const attempt = (text: string) => {
    const at = place(text);
    return { at: rig.now, ...at, attempt: scheduler.attempt(at.step, at.cell) };
  };
  const rig: Rig = {
    scheduler,
    now: 0,
    send(event) {
      const commands = scheduler.handle(event);
      scheduler.assertInvariants();
      return commands.map((command) => renderCommand(plan, command));
    },
    start: () => rig.send({ type: 'started', at: rig.now }),
    submitted: (cell) => rig.send({ type: 'submitted', ...attempt(cell) }),
    running: (cell) => rig.send({ type: 'running', ...attempt(cell) }),
    ready: (cell) => rig.send({ type: 'serviceReady', ...attempt(cell) }),
    ended: (cell, outcome = 'succeeded') => rig.send({ type: 'ended', ...attempt(cell), outcome: asOutcome(outcome) }),
    done: (cell) => [...rig.submitted(cell), ...rig.running(cell), ...rig.ended(cell)],
    postponed: (cell, reason, until) => rig.send({ type: 'postponed', ...attempt(cell), reason, until }),
    published: (cell) => rig.send({ type: 'published', ...attempt(cell) }),
    listed(cell, size) {
      const l = Array.from({ length: size }, (_, item) => ({ key: listKey(item), item }));
      return rig.send({
        type: 'published',
        ...attempt(cell),
        lists: { l: size },
        ...bindListed(plan, place(cell), { l }),
      });
    },
    decided: (step, cells = 1) => rig.send({ type: 'decided', at: rig.now, step: number(step), cells }),
    skipped: (step) => rig.send({ type: 'skipped', at: rig.now, step: number(step) }),
    cached: (cell, hit) => rig.send({ type: hit ? 'cacheHit' : 'cacheMissed', at: rig.now, ...place(cell) }),
    approved: (step, yes) =>
      rig.send({ type: 'approved', at: rig.now, step: number(step), approved: yes, by: 'somebody' }),
    tick(at) {
      rig.now = at;
      return rig.send({ type: 'tick', at });
    },
    cancel: () => rig.send({ type: 'cancelRequested', at: rig.now, by: 'somebody' }),
    state(text) {
      const { step, cell } = place(text);
      return scheduler.state(step, cell);
    },
    states: () => plan.steps.map(({ index, step }) => `${step.name} ${scheduler.state(index)}`).join(', '),
  };
  return rig;
}

function asOutcome(outcome: NonNullable<Parameters<Rig['ended']>[1]>): Outcome {
  if (typeof outcome === 'object') return outcome;
  if (outcome === 'succeeded' || outcome === 'canceled') return { result: outcome };
  return { result: 'failed', class: outcome, message: 'no', ...(outcome === 'failed' ? { exitCode: 1 } : {}) };
}

function renderCommand(plan: Plan, command: Command): string {
  if (command.type === 'wake') return `wake ${command.at}`;
  if (command.type === 'finish') return `finish ${command.status}`;
  const { step, cells } = plan.steps[command.step]!;
  const plain = cells?.length === 1 || !('cell' in command);
  const name = plain ? step.name : `${step.name}/${'cell' in command ? command.cell : 0}`;
  switch (command.type) {
    case 'submit':
      return `submit ${name} #${command.attempt}${command.escalationLevel < 0 ? '' : ` escalationLevel ${command.escalationLevel}`}`;
    case 'cancel':
      return `cancel ${name} #${command.attempt} ${command.reason}`;
    case 'publish':
      return `publish ${name} #${command.attempt}`;
    default:
      return `${command.type} ${name}`;
  }
}
