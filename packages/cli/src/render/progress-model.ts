import { type CellStatus, ENDED_STATUSES, type RunnerEvent, type StatusReport } from '@sluice/run';
import { type ShownStatus, shownStatus } from './render-status.ts';

/** The progress of one step. It counts cells instead of listing them, so that ten thousand cells cost no more than one. */
export interface StepProgress {
  readonly name: string;
  /** Undefined for a `foreach` step that is not expanded yet. */
  cells: number | undefined;
  readonly counts: Map<ShownStatus, number>;
  /** When the first cell was submitted, and when the last one ended; milliseconds since the epoch. */
  startedAt?: number;
  endedAt?: number;
  /** The newest message about one of its cells or containers. */
  note?: string;
}

/** A change of a cell's status. */
export interface CellTransition {
  readonly step: StepProgress;
  readonly cell: string;
  readonly result: StatusReport;
  readonly attempt: number;
  /** Why it waits, was skipped or failed. */
  readonly message?: string;
  /** Why the previous attempt ended, if this transition begins another one. */
  readonly failedBefore?: string;
  /** Milliseconds that it ran: from Running, or from its submission if Running was not observed, to its end. */
  readonly tookMs?: number;
  /** The step ends with this transition. */
  readonly stepFinished: boolean;
}

/** From the most to the least interesting for the user. */
const ACTIVE: readonly CellStatus[] = ['running', 'publishing', 'pending', 'submitting', 'awaitingApproval', 'ready'];
/** A service whose message changes each second must not fill a log file. */
const MOST_MESSAGES = 10;

/** Whether a cell with this status can have no further attempt. */
export function isFinished(status: ShownStatus): boolean {
  return status === 'reused' || ENDED_STATUSES.has(status);
}

/** The number of cells with any of these statuses. */
export function countOf(step: StepProgress, ...statuses: readonly ShownStatus[]): number {
  let sum = 0;
  for (const status of statuses) sum += step.counts.get(status) ?? 0;
  return sum;
}

/** The most interesting status of its cells; undefined if the step has not begun or has ended. */
export function activeStatus(step: StepProgress): CellStatus | undefined {
  return ACTIVE.find((status) => countOf(step, status) > 0);
}

/** The number of cells that have ended, whether they succeeded or not. */
export function countFinished(step: StepProgress): number {
  let sum = 0;
  for (const [status, count] of step.counts) if (isFinished(status)) sum += count;
  return sum;
}

/** Progress of a copy of files. */
export type Transfer = Extract<RunnerEvent, { type: 'transfer' }>;

/** The state of a run as its events describe it. */
export interface ProgressModel {
  readonly steps: ReadonlyMap<string, StepProgress>;
  /** Milliseconds since the epoch; 0 before the first event. */
  readonly startedAt: number;
  readonly runId: string;
  /** Transfers in progress. */
  readonly transfers: ReadonlyMap<string, Transfer>;
  /** Undefined for a cell that has not left `waiting`. */
  cellOf(step: string, cell: string): { readonly status: ShownStatus; readonly attempt: number } | undefined;
  /** Applies an event; returns the transition if it is one. */
  apply(event: RunnerEvent): CellTransition | undefined;
  /** Whether the message of a container is new: of its attempt, or of its step if that has many cells. Remembers it. */
  isNews(state: ContainerState, options: { readonly byCell: boolean }): boolean;
}

/** A message of the service about a container. */
export type ContainerState = Extract<RunnerEvent, { type: 'containerState' }>;

/** A cell that has left `waiting`. */
interface CellProgress {
  status: ShownStatus;
  attempt: number;
  /** When its first attempt was requested. */
  requestedAt?: number;
  /** When its first attempt began to run. */
  beganAt?: number;
  /** Why its previous attempt ended. */
  failure?: string;
}

interface ModelState {
  readonly steps: Map<string, StepProgress>;
  readonly transfers: Map<string, Transfer>;
  /** By `STEP/CELL`. */
  readonly cells: Map<string, CellProgress>;
  /** By `STEP/CELL`, or by step. */
  readonly told: Map<string, { readonly attempt: number; readonly messages: Set<string> }>;
  startedAt: number;
  runId: string;
}

/** An empty model. Events must be applied in their order; unknown steps are ignored. */
export function createProgressModel(): ProgressModel {
  const model: ModelState = {
    ...{ steps: new Map(), transfers: new Map(), cells: new Map(), told: new Map() },
    ...{ startedAt: 0, runId: '' },
  };
  return {
    steps: model.steps,
    transfers: model.transfers,
    get startedAt() {
      return model.startedAt;
    },
    get runId() {
      return model.runId;
    },
    cellOf: (step, cell) => model.cells.get(`${step}/${cell}`),
    apply: (event) => (event.type === 'cellChanged' ? applyTransition(model, event) : applyOther(model, event)),
    isNews: (state, { byCell }) => isNews(model, state, byCell),
  };
}

function isNews({ cells, told }: ModelState, { step, cell, message }: ContainerState, byCell: boolean): boolean {
  const key = byCell ? `${step}/${cell}` : step;
  const attempt = byCell ? (cells.get(key)?.attempt ?? 0) : 0;
  const before = told.get(key);
  const messages = before?.attempt === attempt ? before.messages : new Set<string>();
  if (messages.has(message) || messages.size >= MOST_MESSAGES) return false;
  told.set(key, { attempt, messages: messages.add(message) });
  return true;
}

function applyTransition(
  { steps, cells }: ModelState,
  event: Extract<RunnerEvent, { type: 'cellChanged' }>,
): CellTransition | undefined {
  const step = steps.get(event.step);
  if (step === undefined) return undefined;
  const key = `${event.step}/${event.cell}`;
  const known = cells.get(key) ?? { status: 'waiting', attempt: 0 };
  const status = shownStatus(event);
  step.counts.set(known.status, Math.max(0, countOf(step, known.status) - 1));
  step.counts.set(status, countOf(step, status) + 1);
  if (status === 'submitting') step.startedAt ??= event.at;
  // As `spanOfCell`: from the start of the first attempt. Simultaneous transitions are reported as one, without `running`.
  if (status === 'submitting') known.requestedAt ??= event.at;
  if (status === 'running') known.beganAt ??= event.at;
  known.status = status;
  cells.set(key, known);
  if (event.message === undefined) delete step.note;
  else step.note = event.message;
  // Simultaneous transitions are reported as one: the first event of the new attempt may be that it is running.
  const failedBefore = event.attempt > known.attempt ? known.failure : undefined;
  if (failedBefore !== undefined) delete known.failure;
  known.attempt = event.attempt;
  const { beganAt = known.requestedAt } = known;
  const stepFinished = isFinished(status) && step.cells !== undefined && countFinished(step) >= step.cells;
  if (stepFinished) step.endedAt = event.at;
  return {
    step,
    cell: event.cell,
    result: event,
    attempt: event.attempt,
    stepFinished,
    ...(event.message === undefined ? {} : { message: event.message }),
    ...(failedBefore === undefined ? {} : { failedBefore }),
    ...(isFinished(status) && beganAt !== undefined ? { tookMs: event.at - beganAt } : {}),
  };
}

function applyOther(model: ModelState, event: RunnerEvent): undefined {
  const { steps, transfers, cells } = model;
  switch (event.type) {
    case 'runStarted':
      model.startedAt = event.at;
      model.runId = event.runId;
      for (const { step: name, cells: keys } of event.steps) steps.set(name, createStep(name, keys?.length));
      return;
    case 'stepExpanded':
      expandStep(steps, event);
      return;
    case 'attemptFailed': {
      const { step, cell, attempt, message } = event;
      const known = cells.get(`${step}/${cell}`);
      // Reading the log may take longer than starting the next attempt.
      if (known?.attempt === attempt) known.failure = message;
      return;
    }
    case 'transfer': {
      const key = `${event.direction} ${event.name}`;
      if (event.done) transfers.delete(key);
      else transfers.set(key, event);
      return;
    }
    case 'containerState': {
      const step = steps.get(event.step);
      if (step !== undefined) step.note = event.message;
    }
  }
}

/** The cells of a `foreach` are known, or one that stood for the items of a list is replaced by theirs. */
function expandStep(steps: Map<string, StepProgress>, event: Extract<RunnerEvent, { type: 'stepExpanded' }>): void {
  const step = steps.get(event.step);
  if (step === undefined) return;
  const before = event.replaced === undefined ? undefined : step.cells;
  if (before === undefined) {
    steps.set(event.step, createStep(event.step, event.cells.length));
    return;
  }
  const added = event.cells.length - 1;
  step.cells = before + added;
  step.counts.set('waiting', countOf(step, 'waiting') + added);
}

function createStep(name: string, cells: number | undefined): StepProgress {
  return { name, cells, counts: new Map([['waiting', cells ?? 1]]) };
}
