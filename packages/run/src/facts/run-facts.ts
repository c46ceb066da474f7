import {
  type Batches,
  type BoundItem,
  batchesOfPlan,
  type Cell,
  type Json,
  type Plan,
  type PlannedDependency,
} from '@sluice/core';
import type {
  AdoptedAttempts,
  CacheMiss,
  CacheSource,
  ContainerFacts,
  JournalRecord,
  VolumePlace,
} from '../records/journal-record.ts';
import type { Outcome, PostponeReason } from '../scheduler/model/event.ts';
import type { StaleOutput } from '../schemas/stale-output.ts';
import type { RunWarning } from '../schemas/warning.ts';

/** What the shell knows about one attempt in addition to its state. Times are in milliseconds since the Unix epoch. */
export interface AttemptFacts {
  readonly attempt: number;
  /** The container's ID, set by the intent; absent if the attempt was rejected before. */
  id?: string;
  clusterID?: string;
  instanceType?: string;
  spec?: string;
  /** The service has confirmed the container. */
  submitted: boolean;
  container: ContainerFacts;
  /** When the first request for the container was about to be sent. */
  askedAt?: number;
  /** The earliest time at which the container may have been created: that of the intent, or of the last rejection. */
  doubtfulSince?: number;
  submittedAt?: number;
  runningAt?: number;
  endedAt?: number;
  publishedAt?: number;
  /** How often its submission was postponed, and the last reason. */
  postponed?: { readonly times: number; readonly reason: PostponeReason };
  /** The service has rejected the last request for the container, so that none is in doubt. */
  declined?: boolean;
  outcome?: Outcome;
  cancelReason?: string;
  /** Why it was canceled, of a service that was not ready within its limit. */
  notReady?: string;
  logTail?: readonly string[];
  logFile?: string;
}

/** What the shell knows about one cell in addition to its state. */
export interface CellFacts {
  /** In ascending order; `attempts[n]` is not always attempt n + 1. */
  attempts: readonly AttemptFacts[];
  results: Readonly<Record<string, Json>>;
  cached?: CacheSource;
  missed?: CacheMiss;
  /** The temporary outputs that were removed, or are about to be. */
  removed?: readonly string[];
  /** When the lookup in the cache was finished. */
  lookedUpAt?: number;
  /** The attempt whose outputs were published. */
  winner?: number;
  /** Of a step with `each`: why the cell could not be decided, and when its approval was granted or denied. */
  evaluationError?: string;
  answeredAt?: number;
}

/** Indexes of a failed attempt. */
export interface FailureEntry {
  readonly step: number;
  readonly cell: number;
  readonly attempt: number;
}

/** Everything that replaying a journal restores, except the scheduler's state. */
export interface RunFacts {
  readonly plan: Plan;
  header?: Extract<JournalRecord, { kind: 'run' }>;
  startedAt: number;
  /** The time of the last record that has one. */
  recordedAt: number;
  /** When no process executed the run: from the last record of one process to the opening by the next. */
  readonly pauses: { readonly from: number; readonly to: number }[];
  finished?: { readonly at: number; readonly status: 'succeeded' | 'failed' | 'canceled' };
  canceledBy?: string;
  canceledAt?: number;
  /** Why the run could not continue, if it was stuck. */
  stuck?: string;
  /** Indexes in the pipeline's `notify` that were sent, or could not be sent. */
  readonly notified: Set<number>;
  /** What an adoption found; undefined for a run that was never adopted. */
  adopted?: AdoptedAttempts;
  adoptedAt?: number;
  /**
   * When a container was created at the latest, by its ID, if it exists: of those that an earlier process may have requested,
   * and this one has not. Not restored from the journal.
   */
  readonly createdBy: Map<string, number>;
  volumes: Readonly<Record<string, VolumePlace>>;
  /** Digests of input trees before containers could change them, by `volume:path`. */
  readonly inputStates: Map<string, string>;
  /** Keys of the completed transfers. */
  readonly transferred: Set<string>;
  /** When each of them was completed, in this order. */
  readonly transfers: { readonly at: number; readonly key: string }[];
  /** When the outputs were copied. */
  deliveredAt?: number;
  /** The directories of the local copies, by output. */
  delivered: Readonly<Record<string, string>>;
  /** Why an output could not be copied, by output. */
  undelivered: Readonly<Record<string, string>>;
  /** The previous content of a target directory whose output the run has not produced, by output. */
  staleOutputs: Readonly<Record<string, StaleOutput>>;
  /** In the order in which they ended. */
  readonly failures: FailureEntry[];
  /** In the order in which they were reported. */
  readonly warnings: RunWarning[];
  /** Why an expression of a step could not be evaluated, by step. */
  readonly evaluationErrors: Map<number, string>;
  /** When an approval was granted or denied, by step. */
  readonly answeredAt: Map<number, number>;
  /** The cells by step; undefined until the list of a `foreach` is evaluated. Those of a step over a listed axis grow. */
  readonly cells: (readonly Cell[] | undefined)[];
  /** By step over a listed axis: its cells, of which the planned ones stand for lists. */
  readonly batches: readonly (Batches | undefined)[];
  /** By dependency whose `where` names an item of a list: the places of the items, by cell of the reader. */
  readonly bound: Map<PlannedDependency, Map<number, BoundItem>>;
  /** By step and cell; sparse. */
  readonly known: CellFacts[][];
}

/** The facts of a run without any record. */
export function createRunFacts(plan: Plan): RunFacts {
  return {
    plan,
    startedAt: 0,
    recordedAt: 0,
    pauses: [],
    volumes: {},
    inputStates: new Map(),
    transferred: new Set(),
    transfers: [],
    createdBy: new Map(),
    delivered: {},
    undelivered: {},
    staleOutputs: {},
    notified: new Set(),
    failures: [],
    warnings: [],
    evaluationErrors: new Map(),
    answeredAt: new Map(),
    cells: plan.steps.map((step) => step.cells),
    batches: batchesOfPlan(plan),
    bound: new Map(),
    known: plan.steps.map(() => []),
  };
}

/** One for all cells, of which a run may have hundreds of thousands. */
const NO_RESULTS: CellFacts['results'] = Object.freeze({});
const NO_CONTAINER: ContainerFacts = Object.freeze({});

/** The facts of a cell; creates an empty entry if there is none. */
export function cellFacts(facts: RunFacts, step: number, cell: number): CellFacts {
  const row = facts.known[step]!;
  row[cell] ??= { attempts: [], results: NO_RESULTS };
  return row[cell];
}

/** Why a step, or a cell of a step with `each`, could not be decided; undefined if it could. */
export function evaluationErrorOf(facts: RunFacts, step: number, cell: number): string | undefined {
  return facts.known[step]?.[cell]?.evaluationError ?? facts.evaluationErrors.get(step);
}

/** When the approval of a step, or of a cell of a step with `each`, was granted or denied. */
export function answeredAtOf(
  facts: Pick<RunFacts, 'known' | 'answeredAt'>,
  step: number,
  cell: number,
): number | undefined {
  return facts.known[step]?.[cell]?.answeredAt ?? facts.answeredAt.get(step);
}

/** Whether anything is known of an attempt. */
export function hasAttempt({ known }: RunFacts, at: FailureEntry): boolean {
  return known[at.step]?.[at.cell]?.attempts.some(({ attempt }) => attempt === at.attempt) ?? false;
}

/** Adds what is reported of an attempt's container; what is known already is replaced only if `replaces` is set. */
export function addContainerFacts(
  attempt: AttemptFacts,
  reported: ContainerFacts | undefined,
  { replaces }: { readonly replaces: boolean },
): void {
  const known = attempt.container;
  if (reported === undefined) return;
  if (known === NO_CONTAINER) attempt.container = reported;
  else attempt.container = replaces ? { ...known, ...reported } : { ...reported, ...known };
}

/** The facts of an attempt; creates an empty entry if there is none. */
export function attemptFacts(facts: RunFacts, at: { step: number; cell: number; attempt: number }): AttemptFacts {
  const known = cellFacts(facts, at.step, at.cell);
  const { attempts } = known;
  const found =
    attempts.at(-1)?.attempt === at.attempt ? attempts.at(-1) : attempts.find((a) => a.attempt === at.attempt);
  if (found) return found;
  const made: AttemptFacts = { attempt: at.attempt, submitted: false, container: NO_CONTAINER };
  // `push` would reserve space for 16 more, which few cells use.
  known.attempts = attempts.concat(made);
  return made;
}
