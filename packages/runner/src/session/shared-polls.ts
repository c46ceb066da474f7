import type { Scope } from '@sluice/client';
import type { Attempt } from './attempt.ts';
import type { RunSession } from './run-session.ts';

/** The polls of one service. Runs that share them cost one list call per account together, not one each. */
export interface SharedPolls {
  /** Lets a run take part in the polls of one account. */
  join(run: PolledRun, scope: Scope): RunPolls;
}

/** A run whose containers are polled. */
export interface PolledRun {
  readonly session: RunSession;
  /** Queries one container now. False: the service does not answer. */
  readonly check: (attempt: Attempt) => Promise<boolean>;
  /** Called when an attempt is not polled any more because it is closed. */
  readonly onRemoved: (attempt: Attempt) => void;
}

/** The part of one run in the polls of an account. */
export interface RunPolls {
  /** Polls the attempt's container from now on. */
  add(attempt: Attempt): void;
  remove(attempt: Attempt): void;
  /** The service has answered a query of the run. */
  answered(): void;
  /** It has not, and is polled less often. */
  failed(error: unknown): void;
  leave(): void;
}
