import type { Terminal } from './terminal.ts';

/** What a command knows of the process it runs in; tests give their own. */
export interface CommandContext {
  readonly terminal: Terminal;
  readonly env: NodeJS.ProcessEnv;
  /** Absolute; relative paths start here. */
  readonly cwd: string;
  /** Calls `listener` for each signal of that name until the returned function is called. */
  onSignal(signal: NodeJS.Signals, listener: () => void): () => void;
  /** Ends the process at once, whatever is in progress. */
  exit(exitCode: number): never;
}

/** The options that every command takes. */
export interface GlobalOptions {
  readonly home?: string;
  readonly profile?: string;
  readonly service?: string;
  readonly account?: string;
  readonly cluster?: string;
  readonly cores?: number;
  readonly json?: boolean;
}
