import type { EngineName } from '@sluice/run';
import type { ColorChoice, Terminal } from './terminal.ts';

/** The process as commands see it; tests pass their own. */
export interface CommandContext {
  readonly terminal: Terminal;
  readonly env: NodeJS.ProcessEnv;
  /** Absolute; relative paths are resolved against it. */
  readonly cwd: string;
  /** What Node.js starts a command with; default: as this process was started. */
  readonly program?: readonly string[];
  /** Calls `listener` for each signal of that name until the returned function is called. */
  onSignal(signal: NodeJS.Signals, listener: () => void): () => void;
  /** Exits immediately, without cleanup. */
  exit(exitCode: number): never;
}

/**
 * What opening a service and handing over a run need of the process: a command has a terminal, a program of the library has
 * none.
 */
export interface ServiceContext extends Pick<CommandContext, 'env' | 'cwd' | 'program'> {
  readonly terminal: Pick<Terminal, 'err'>;
}

/** The options that commands share; `SHARED_OPTIONS` lists which apply to which. Their defaults depend on environment and profile. */
export interface GlobalOptions {
  readonly home?: string;
  readonly profile?: string;
  readonly service?: string;
  readonly account?: string;
  readonly cluster?: string;
  /** The service is that of a recorded run: no variable selects another. */
  readonly isRecorded?: true;
  /** Engine of the embedded service, which is then used. */
  readonly engine?: EngineName;
  /** The command continues in later starts of the job of Slurm in which it runs. */
  readonly resubmit?: boolean;
  /** Cores of the embedded service. */
  readonly cpu?: number;
  readonly json?: boolean;
  readonly color?: ColorChoice;
  readonly verbose?: boolean;
}
