import { SluiceError } from '@sluice/core';
import type { Reporter, RunnerEvent } from '@sluice/run';

/** Unread events of one run that are kept in memory: some tens of megabytes. */
const MAX_UNREAD = 100_000;

/** Events of a run between the runner, which reports them, and the program, which reads them. */
export interface EventQueue {
  add(event: RunnerEvent): void;
  /** No event follows. */
  end(): void;
  /** Each event is read once; several readers share the events. Ends after the last event. */
  readonly events: AsyncIterable<RunnerEvent>;
}

/** Passes each event of a run to its queue, and to the program if it listens. */
export function reportTo(queue: EventQueue, onEvent: ((event: RunnerEvent) => void) | undefined): Reporter {
  return {
    report(event) {
      queue.add(event);
      onEvent?.(event);
    },
  };
}

/** An empty queue. After `limit` unread events it drops all of them, and readers get `EVENTS_OVERFLOW`. */
export function createEventQueue(limit = MAX_UNREAD): EventQueue {
  let unread: RunnerEvent[] = [];
  let next = 0;
  let isEnded = false;
  let hasOverflowed = false;
  let waiting: (() => void)[] = [];
  const notify = () => {
    const readers = waiting;
    waiting = [];
    for (const wake of readers) wake();
  };
  const take = (): RunnerEvent | undefined => {
    const event = unread[next++];
    if (event !== undefined && next < unread.length) return event;
    unread = [];
    next = 0;
    return event;
  };
  async function* read(): AsyncGenerator<RunnerEvent> {
    for (;;) {
      if (hasOverflowed) {
        const message = `the program left ${limit} events of the run unread; read them while it runs, or use onEvent`;
        throw new SluiceError('EVENTS_OVERFLOW', message);
      }
      const event = take();
      if (event !== undefined) yield event;
      else if (isEnded) return;
      else await new Promise<void>((resolve) => waiting.push(resolve));
    }
  }
  return {
    add(event) {
      if (hasOverflowed) return;
      unread.push(event);
      hasOverflowed = unread.length - next > limit;
      if (hasOverflowed) unread = [];
      notify();
    },
    end() {
      isEnded = true;
      notify();
    },
    events: { [Symbol.asyncIterator]: read },
  };
}
