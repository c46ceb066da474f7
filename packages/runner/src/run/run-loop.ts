import type { Clock } from '../clock.ts';
import type { Journal } from '../journal/journal.ts';
import type { EventFacts, JournalRecord } from '../journal/journal-record.ts';
import type { Command } from '../scheduler/command.ts';
import type { SchedulerEvent } from '../scheduler/event.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import { applyRecord } from './apply-record.ts';
import type { RunFacts } from './run-facts.ts';

export interface Posted {
  readonly event: SchedulerEvent;
  readonly facts?: EventFacts;
}

/** What the loop needs of its surroundings. */
export interface LoopPorts {
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly facts: RunFacts;
  readonly journal: Journal;
  /** Answers a command that needs no one else, or prepares its effect: the effect runs when the turn is durable. */
  readonly perform: (command: Command) => Posted | (() => void) | undefined;
  /** Hears of each event after it has been handled. */
  readonly onHandled: (event: SchedulerEvent) => void;
  /** After each turn that handled something. */
  readonly onTurn: () => void;
  /** The loop has stopped for good: the journal cannot be written, or there is a bug. */
  readonly onFailure: (error: unknown) => void;
}

export interface RunLoop {
  post(event: SchedulerEvent, facts?: EventFacts): void;
  note(record: JournalRecord): void;
  /** Handles what has been posted and performs nothing: what is open then is asked for again by `begin`. */
  absorb(): void;
  /** Performs every open command: the start of a run, and its resume. */
  begin(): void;
  durable(): Promise<void>;
  /** Takes and does nothing any more. */
  stop(): void;
  readonly stopped: boolean;
}

/**
 * The one loop of a run (design §2). A turn takes every event that has come, hands each to the scheduler, answers the
 * commands that need nobody else at once, writes everything in one commit, and only then lets the effects out: what
 * the outside sees of this runner is always durable before.
 */
export function createRunLoop(ports: LoopPorts): RunLoop {
  const { clock, scheduler, facts, journal } = ports;
  let inbox: Posted[] = [];
  let turnPlanned = false;
  let stopped = false;
  let absorbing = true;

  function note(record: JournalRecord): void {
    if (stopped) return;
    applyRecord(facts, record);
    journal.append(record);
  }

  function post(event: SchedulerEvent, beside?: EventFacts): void {
    if (stopped) return;
    inbox.push(beside ? { event, facts: beside } : { event });
    if (turnPlanned || absorbing) return;
    turnPlanned = true;
    clock.defer(guarded(turn));
  }

  function turn(): void {
    turnPlanned = false;
    const effects = handleInbox([]);
    commitThen(effects);
  }

  /** Handles what has come, and what its commands answer at once. Returns the effects, in order. */
  function handleInbox(commands: Command[]): (() => void)[] {
    const effects: (() => void)[] = [];
    while (inbox.length > 0 || commands.length > 0) {
      for (const command of commands) {
        const answer = ports.perform(command);
        if (typeof answer === 'function') effects.push(answer);
        else if (answer) inbox.push(answer);
      }
      commands.length = 0;
      const posted = inbox;
      inbox = [];
      for (const entry of posted) take(entry, commands);
    }
    return effects;
  }

  function take(entry: Posted, commands: Command[]): void {
    // First handled, then written: an event that the scheduler refuses would stop every later replay at the same place.
    scheduler.handle(entry.event, commands);
    note(
      entry.facts ? { kind: 'event', event: entry.event, facts: entry.facts } : { kind: 'event', event: entry.event },
    );
    ports.onHandled(entry.event);
  }

  function commitThen(effects: readonly (() => void)[]): void {
    ports.onTurn();
    journal.commit().then(
      guarded(() => {
        for (const effect of effects) if (!stopped) effect();
      }),
      fail,
    );
  }

  function guarded(action: () => void): () => void {
    return () => {
      if (stopped) return;
      try {
        action();
      } catch (error) {
        fail(error);
      }
    };
  }

  function fail(error: unknown): void {
    if (stopped) return;
    stopped = true;
    ports.onFailure(error);
  }

  return {
    post,
    note,
    absorb() {
      const posted = inbox;
      inbox = [];
      for (const entry of posted) take(entry, []);
    },
    begin() {
      absorbing = false;
      commitThen(handleInbox(scheduler.resume()));
    },
    async durable() {
      try {
        await journal.commit();
      } catch (error) {
        fail(error);
      }
      if (stopped) await new Promise<never>(() => {});
    },
    stop() {
      stopped = true;
    },
    get stopped() {
      return stopped;
    },
  };
}
