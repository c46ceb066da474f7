import type { Clock } from '../clock.ts';
import type { Journal } from '../journal/journal.ts';
import type { EventFacts, JournalRecord } from '../journal/journal-record.ts';
import { applyRecord } from '../record/apply-record.ts';
import type { RunFacts } from '../record/run-facts.ts';
import type { Command } from '../scheduler/model/command.ts';
import type { SchedulerEvent } from '../scheduler/model/event.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import type { Posted } from '../session/posted.ts';

/** What the loop depends on. */
export interface LoopPorts {
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly facts: RunFacts;
  readonly journal: Journal;
  /** Takes secrets out of what is about to be written. */
  readonly redact: <T>(data: T) => T;
  /** The loop has stopped permanently: the journal cannot be written, or there is a bug. */
  readonly onFailure: (error: unknown) => void;
}

/** What the loop calls in its turns. */
export interface LoopHandlers {
  /** Answers a command at once, or prepares its effect, which runs when the turn is durable. */
  readonly perform: (command: Command) => Posted | (() => void) | undefined;
  /** Called for each event after the scheduler has handled it. */
  readonly onHandled: (event: SchedulerEvent) => void;
  /** Called after each turn that handled something. */
  readonly onTurn: () => void;
}

export interface RunLoop {
  /** Sets the handlers, before the first turn. */
  attach(handlers: LoopHandlers): void;
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

/** So many commands are performed in one turn at most: ten thousand at once would keep everything else waiting. */
const COMMANDS_PER_TURN = 200;

/** What a resume learns again by asking for the container: alone, it is written without waiting for the disk. */
const OBSERVED: ReadonlySet<SchedulerEvent['type']> = new Set(['submitted', 'running']);

const NO_HANDLERS: LoopHandlers = { perform: () => undefined, onHandled: () => {}, onTurn: () => {} };

/**
 * The one loop of a run. A turn takes every event that has come, hands each to the scheduler, answers the
 * commands that need nobody else at once, writes everything in one commit, and only then lets the effects out: what
 * the outside sees of this runner is always durable before. Containers that have come to be there or to run, and nothing
 * else, are no reason to wait for the disk.
 */
export function createRunLoop(ports: LoopPorts): RunLoop {
  const { clock, scheduler, facts, journal } = ports;
  let handlers: LoopHandlers = NO_HANDLERS;
  let inbox: Posted[] = [];
  /** Commands that are still to be performed, in the scheduler's order. */
  let open: Command[] = [];
  let turnPlanned = false;
  let stopped = false;
  let absorbing = true;
  /** The turn holds what could not be learned again. */
  let decided = false;

  function note(given: JournalRecord): void {
    if (stopped) return;
    const record = ports.redact(given);
    applyRecord(facts, record);
    journal.append(record);
  }

  function post(event: SchedulerEvent, beside?: EventFacts): void {
    if (stopped) return;
    inbox.push(beside ? { event, facts: beside } : { event });
    if (!absorbing) planTurn();
  }

  function planTurn(): void {
    if (turnPlanned) return;
    turnPlanned = true;
    clock.defer(guarded(turn));
  }

  function turn(): void {
    turnPlanned = false;
    commitThen(handleInbox());
  }

  /** Handles what has come, and what its commands answer at once. Returns the effects, in order. */
  function handleInbox(): (() => void)[] {
    const effects: (() => void)[] = [];
    let performed = 0;
    while (inbox.length > 0 || (open.length > 0 && performed < COMMANDS_PER_TURN)) {
      const posted = inbox;
      inbox = [];
      for (const entry of posted) take(entry, open);
      const now = open.splice(0, COMMANDS_PER_TURN - performed);
      performed += now.length;
      for (const command of now) {
        const answer = handlers.perform(command);
        if (typeof answer === 'function') effects.push(answer);
        else if (answer) inbox.push(answer);
      }
    }
    if (open.length > 0) planTurn();
    return effects;
  }

  function take(entry: Posted, commands: Command[]): void {
    // First handled, then written: an event that the scheduler refuses would stop every later replay at the same place.
    scheduler.handle(entry.event, commands);
    if (!OBSERVED.has(entry.event.type)) decided = true;
    note(
      entry.facts ? { kind: 'event', event: entry.event, facts: entry.facts } : { kind: 'event', event: entry.event },
    );
    handlers.onHandled(entry.event);
  }

  function commitThen(effects: readonly (() => void)[]): void {
    handlers.onTurn();
    const kept = effects.length === 0 && !decided ? journal.write() : journal.commit();
    decided = false;
    kept.then(
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
    attach(given) {
      handlers = given;
    },
    post,
    note,
    absorb() {
      const posted = inbox;
      inbox = [];
      for (const entry of posted) take(entry, []);
    },
    begin() {
      absorbing = false;
      open = scheduler.resume();
      commitThen(handleInbox());
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
