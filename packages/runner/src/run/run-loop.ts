import { type Clock, createTurnDeadline, findLastTime, type Journal } from '@sluice/home';
import {
  applyEvent,
  applyRecord,
  type Command,
  type EventFacts,
  type JournalRecord,
  type PlainRecord,
  type RunFacts,
  type Scheduler,
  type SchedulerEvent,
} from '@sluice/run';
import type { Posted } from '../session/posted.ts';

/** What the loop depends on. */
export interface LoopPorts {
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly facts: RunFacts;
  readonly journal: Journal;
  /** Removes secrets from what is about to be written. */
  readonly redact: <T>(data: T) => T;
  /** The loop has stopped permanently: the journal cannot be written, or there is a bug. */
  readonly onFailure: (error: unknown) => void;
}

/** What the loop calls in its turns. */
export interface LoopHandlers {
  /** Answers a command at once, or returns its effect, which runs when the turn is durable. */
  readonly perform: (command: Command) => Posted | (() => void) | undefined;
  /** Called for each event after the scheduler has handled it. */
  readonly onHandled: (event: SchedulerEvent) => void;
  /** Called after each turn that handled something. */
  readonly onTurn: () => void;
}

/** The event loop of one run. */
export interface RunLoop {
  /** Sets the handlers, before the first turn. */
  attach(handlers: LoopHandlers): void;
  post(event: SchedulerEvent, facts?: EventFacts): void;
  note(record: PlainRecord): void;
  /** Handles posted events without performing commands: `begin` requests the open commands again. */
  absorb(): void;
  /** Performs every open command, at the start of a run and when it is resumed. */
  begin(): void;
  durable(): Promise<void>;
  /**
   * Resolves to true when everything posted before is durable, and to false if the loop has stopped before it was handled.
   * Rejects if the journal cannot be written.
   */
  recorded(): Promise<boolean>;
  /** The time of the newest durable record that this loop has written; undefined before the first. */
  readonly recordedAt: number | undefined;
  /** Ignores everything from now on. */
  stop(): void;
  readonly stopped: boolean;
}

/** Commands performed per turn at most: ten thousand at once would delay everything else. */
const COMMANDS_PER_TURN = 200;

/**
 * What a resume can learn again by querying the container: a turn with only these events does not wait for the disk.
 */
const OBSERVED: ReadonlySet<SchedulerEvent['type']> = new Set(['submitted', 'running']);

const NO_HANDLERS: LoopHandlers = { perform: () => undefined, onHandled: () => {}, onTurn: () => {} };

/**
 * The only loop of a run. A turn takes all posted events, passes each to the scheduler, performs the commands that can
 * be answered at once, writes everything in one commit, and only then runs the effects: what becomes visible outside
 * this process is always durable first. A turn that only observed that containers exist or run does not wait for the
 * disk.
 */
export function createRunLoop(ports: LoopPorts): RunLoop {
  const { clock, scheduler, facts, journal } = ports;
  let handlers: LoopHandlers = NO_HANDLERS;
  let inbox: Posted[] = [];
  /** Commands that have not been performed yet, in the scheduler's order. */
  let open: Command[] = [];
  /** Effects of durable turns that have not run yet. */
  const due: (() => void)[] = [];
  /** They continue in a later turn of the event loop. */
  let runsEffects = false;
  let turnPlanned = false;
  let stopped = false;
  let absorbing = true;
  /** Called when what was posted before is in the journal, or with false when the loop stops before. */
  let onTaken: ((isTaken: boolean) => void)[] = [];
  /** The turn contains something that could not be learned again. */
  let decided = false;
  let appendedAt: number | undefined;
  let recordedAt: number | undefined;

  function append(record: JournalRecord): void {
    journal.append(record);
    appendedAt = findLastTime([record]) ?? appendedAt;
  }

  async function commit(): Promise<void> {
    const at = appendedAt;
    await journal.commit();
    recordedAt = at;
  }

  function note(given: PlainRecord): void {
    if (stopped) return;
    const record = ports.redact(given);
    applyRecord(facts, record);
    append(record);
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

  /** Handles the posted events, and the immediate answers of their commands. Returns the effects, in order. */
  function handleInbox(): (() => void)[] {
    const effects: (() => void)[] = [];
    // No further command after it, nor further effect: on a server, one account must not stop the runs of the others.
    const hasPassed = createTurnDeadline(clock);
    let performed = 0;
    while (inbox.length > 0 || (open.length > 0 && performed < COMMANDS_PER_TURN && !hasPassed())) {
      const posted = inbox;
      inbox = [];
      for (const entry of posted) take(entry, open);
      settleTaken(true);
      const now = open.splice(0, COMMANDS_PER_TURN - performed);
      for (const [index, command] of now.entries()) {
        // At least one, so that every turn makes progress.
        if (performed > 0 && hasPassed()) {
          open.unshift(...now.slice(index));
          break;
        }
        performed++;
        const answer = handlers.perform(command);
        if (typeof answer === 'function') effects.push(answer);
        else if (answer) inbox.push(answer);
      }
    }
    if (open.length > 0) planTurn();
    return effects;
  }

  function take(entry: Posted, commands: Command[]): void {
    if (stopped) return;
    const record = ports.redact({ kind: 'event', ...entry } as const);
    // Handled first, then written: an event that the scheduler rejects would stop every later replay at the same place.
    applyEvent({ facts, scheduler }, record, commands);
    if (!OBSERVED.has(entry.event.type)) decided = true;
    append(record);
    handlers.onHandled(entry.event);
  }

  function settleTaken(isTaken: boolean): void {
    const settled = onTaken;
    onTaken = [];
    for (const settle of settled) settle(isTaken);
  }

  function stop(): void {
    stopped = true;
    settleTaken(false);
  }

  function commitThen(effects: readonly (() => void)[]): void {
    handlers.onTurn();
    const kept = effects.length === 0 && !decided ? journal.write() : commit();
    decided = false;
    kept.then(
      guarded(() => {
        due.push(...effects);
        if (!runsEffects) runEffects();
      }),
      fail,
    );
  }

  /** Runs the effects of durable turns in their order, if necessary in several turns of the event loop. */
  function runEffects(): void {
    runsEffects = false;
    const hasPassed = createTurnDeadline(clock);
    for (let effect = due.shift(); effect !== undefined && !stopped; effect = due.shift()) {
      effect();
      if (due.length === 0 || !hasPassed()) continue;
      runsEffects = true;
      clock.defer(guarded(runEffects));
      return;
    }
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
    stop();
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
      settleTaken(true);
    },
    begin() {
      absorbing = false;
      open = scheduler.resume();
      commitThen(handleInbox());
    },
    async durable() {
      try {
        await commit();
      } catch (error) {
        fail(error);
      }
      if (stopped) await new Promise<never>(() => {});
    },
    async recorded() {
      const isTaken = inbox.length === 0 || new Promise<boolean>((resolve) => onTaken.push(resolve));
      if (stopped || !(await isTaken)) return false;
      await commit();
      return true;
    },
    stop,
    get recordedAt() {
      return recordedAt;
    },
    get stopped() {
      return stopped;
    },
  };
}
