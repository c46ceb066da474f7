import type { CommandContext } from './command-context.ts';

/** The end of a command that runs until a signal. */
export interface AwaitedEnd {
  /** Resolves at SIGINT, SIGTERM or `end`. */
  readonly ended: Promise<void>;
  /** Ends the command as a signal does. */
  end(): void;
  /** Removes the listeners. */
  stop(): void;
}

/** Waits for the signals that end a command. SIGHUP does not: the terminal may be closed. */
export function waitForEnd({ onSignal }: Pick<CommandContext, 'onSignal'>): AwaitedEnd {
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const unsubscribe = [onSignal('SIGINT', () => end()), onSignal('SIGTERM', () => end()), onSignal('SIGHUP', () => {})];
  return {
    ended,
    end: () => end(),
    stop() {
      for (const one of unsubscribe) one();
    },
  };
}
