import type { Cell, Json, Plan } from '@sluice/core';
import type {
  AdoptedAttempts,
  CacheMiss,
  CacheSource,
  ContainerFacts,
  JournalRecord,
  VolumePlace,
} from '../journal/journal-record.ts';
import type { KeptResult } from '../journal/kept-result.ts';
import type { RunWarning } from '../journal/run-warning.ts';
import type { Outcome, PostponeReason } from '../scheduler/model/event.ts';

/** What the shell knows of one attempt beside its state. */
export interface AttemptFacts {
  readonly attempt: number;
  /** Set by the intent; an attempt that was refused before one has none. */
  id?: string;
  clusterID?: string;
  instanceType?: string;
  spec?: string;
  /** The service has confirmed the container. */
  submitted: boolean;
  container: ContainerFacts;
  /** When the service was about to be asked for the container. */
  askedAt?: number;
  /** The container may exist since then, but not since before: the service was asked, or had said no, and was asked again. */
  doubtfulSince?: number;
  submittedAt?: number;
  runningAt?: number;
  endedAt?: number;
  publishedAt?: number;
  /** How often its submission was put off, and why the last time. */
  postponed?: { readonly times: number; readonly reason: PostponeReason };
  /** The last that is known of it is that the service did not take it: no request of it is in doubt. */
  turnedAway?: boolean;
  outcome?: Outcome;
  cancelReason?: string;
  logTail?: readonly string[];
  logFile?: string;
}

/** What the shell knows of one cell beside its state. */
export interface CellFacts {
  /** In order; `attempts[n]` is not always attempt n + 1. */
  readonly attempts: AttemptFacts[];
  results: Readonly<Record<string, Json>>;
  cached?: CacheSource;
  missed?: CacheMiss;
  /** When the cache had answered. */
  lookedUpAt?: number;
  /** Attempt whose outputs were published. */
  winner?: number;
}

/** A failed attempt, in the order of the ends. */
export interface FailureEntry {
  readonly step: number;
  readonly cell: number;
  readonly attempt: number;
}

/** Everything that replaying a journal gives beside the scheduler's state. */
export interface RunFacts {
  readonly plan: Plan;
  header?: Extract<JournalRecord, { kind: 'run' }>;
  startedAt: number;
  finished?: { readonly at: number; readonly status: 'succeeded' | 'failed' | 'canceled' };
  canceledBy?: string;
  /** Why the run could not go on, where it was stuck. */
  stuck?: string;
  /** Indexes into the pipeline's `notify` that have been dealt with. */
  readonly notified: Set<number>;
  /** What an adoption found; undefined for a run that was never adopted. */
  adopted?: AdoptedAttempts;
  volumes: Readonly<Record<string, VolumePlace>>;
  /** Digests of how input trees were, by `volume:path`. */
  readonly inputStates: Map<string, string>;
  /** Keys of the transfers that are whole. */
  readonly transferred: Set<string>;
  delivered: Readonly<Record<string, string>>;
  /** Why an output that was to be copied was not, by output. */
  undelivered: Readonly<Record<string, string>>;
  /** What lies where an output that the run has not made was to be copied to, by output. */
  kept: Readonly<Record<string, KeptResult>>;
  readonly failures: FailureEntry[];
  /** What the user was warned of, in order. */
  readonly warnings: RunWarning[];
  /** Why a step could not be decided, by step. */
  readonly evaluationErrors: Map<number, string>;
  /** When a person said yes or no, by step. */
  readonly answeredAt: Map<number, number>;
  /** By step: the cells, undefined while a `foreach` is open. */
  readonly cells: (readonly Cell[] | undefined)[];
  /** By step and cell; entries appear when there is something to know. */
  readonly known: CellFacts[][];
}

export function createRunFacts(plan: Plan): RunFacts {
  return {
    plan,
    startedAt: 0,
    volumes: {},
    inputStates: new Map(),
    transferred: new Set(),
    delivered: {},
    undelivered: {},
    kept: {},
    notified: new Set(),
    failures: [],
    warnings: [],
    evaluationErrors: new Map(),
    answeredAt: new Map(),
    cells: plan.steps.map((step) => step.cells),
    known: plan.steps.map(() => []),
  };
}

/** The facts of a cell; an empty entry appears on the first look. */
export function cellFacts(facts: RunFacts, step: number, cell: number): CellFacts {
  const row = facts.known[step]!;
  row[cell] ??= { attempts: [], results: {} };
  return row[cell];
}

/** The facts of an attempt; an empty entry appears on the first look. */
export function attemptFacts(facts: RunFacts, at: { step: number; cell: number; attempt: number }): AttemptFacts {
  const { attempts } = cellFacts(facts, at.step, at.cell);
  const found =
    attempts.at(-1)?.attempt === at.attempt ? attempts.at(-1) : attempts.find((a) => a.attempt === at.attempt);
  if (found) return found;
  const made: AttemptFacts = { attempt: at.attempt, submitted: false, container: {} };
  attempts.push(made);
  return made;
}
