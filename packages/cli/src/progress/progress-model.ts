import { type CellState, type RunnerEvent, TERMINAL_CELL_STATES } from '@sluice/runner';

/** What is known of one step during a run: counts, not cells, so that ten thousand cells cost no more than one. */
export interface StepProgress {
  readonly name: string;
  /** Undefined for a `foreach` step that is not decided yet. */
  cells: number | undefined;
  readonly counts: Map<CellState, number>;
  /** When the first cell was submitted, and when the last one ended. */
  startedAt?: number;
  endedAt?: number;
  /** The newest words about why it waits, or from the service about a container of it. */
  note?: string;
}

/** A cell that has changed its state. */
export interface CellTransition {
  readonly step: StepProgress;
  readonly cell: string;
  readonly state: CellState;
  readonly attempt: number;
  readonly reason?: string;
  /** What ended the attempt before, where this move begins another. */
  readonly failedBefore?: string;
  /** Milliseconds that it ran: from Running, or from its submission if Running was not observed, to its end. */
  readonly tookMs?: number;
  /** The step ends with this transition. */
  readonly stepFinished: boolean;
}

/** From the most to the least interesting for the user. */
const ACTIVE: readonly CellState[] = [
  'running',
  'publishing',
  'pending',
  'submitting',
  'awaitingApproval',
  'backingOff',
  'checking',
  'ready',
];

export function isFinished(state: CellState): boolean {
  return TERMINAL_CELL_STATES.has(state);
}

export function countOf(step: StepProgress, ...states: readonly CellState[]): number {
  let sum = 0;
  for (const state of states) sum += step.counts.get(state) ?? 0;
  return sum;
}

/** What the step is about right now; undefined if it has not begun or has ended. */
export function activeState(step: StepProgress): CellState | undefined {
  return ACTIVE.find((state) => (step.counts.get(state) ?? 0) > 0);
}

export function countFinished(step: StepProgress): number {
  let sum = 0;
  for (const [state, count] of step.counts) if (isFinished(state)) sum += count;
  return sum;
}

/** Files on their way. */
export type Transfer = Extract<RunnerEvent, { type: 'transfer' }>;

/** The state of a run as its events tell it, for people to look at. */
export interface ProgressModel {
  readonly steps: ReadonlyMap<string, StepProgress>;
  readonly startedAt: number;
  readonly runId: string;
  /** What is being copied right now. */
  readonly transfers: ReadonlyMap<string, Transfer>;
  /** Where a cell that has moved is now. */
  cellOf(step: string, cell: string): { readonly state: CellState; readonly attempt: number } | undefined;
  /** Takes the event in; returns the move where the event is one. */
  apply(event: RunnerEvent): CellTransition | undefined;
}

export function createProgressModel(): ProgressModel {
  const steps = new Map<string, StepProgress>();
  const transfers = new Map<string, Transfer>();
  /** State of the cells that have left `waiting`, when their present attempt began, and what ended the one before. */
  const cells = new Map<string, { state: CellState; attempt: number; beganAt?: number; failure?: string }>();
  let startedAt = 0;
  let runId = '';

  const applyTransition = (event: Extract<RunnerEvent, { type: 'cellChanged' }>): CellTransition | undefined => {
    const step = steps.get(event.step);
    if (step === undefined) return undefined;
    const key = `${event.step}/${event.cell}`;
    const known = cells.get(key) ?? { state: 'waiting', attempt: 0 };
    step.counts.set(known.state, Math.max(0, countOf(step, known.state) - 1));
    step.counts.set(event.state, countOf(step, event.state) + 1);
    if (event.state === 'submitting') step.startedAt ??= event.at;
    if (event.state === 'submitting' || event.state === 'running') known.beganAt = event.at;
    known.state = event.state;
    cells.set(key, known);
    if (event.reason === undefined) delete step.note;
    else step.note = event.reason;
    // Transitions of one moment are reported as one: the first event of the new attempt may be that it is running.
    const failedBefore = event.attempt > known.attempt ? known.failure : undefined;
    if (failedBefore !== undefined) delete known.failure;
    known.attempt = event.attempt;
    const stepFinished = isFinished(event.state) && step.cells !== undefined && countFinished(step) >= step.cells;
    if (stepFinished) step.endedAt = event.at;
    return {
      step,
      cell: event.cell,
      state: event.state,
      attempt: event.attempt,
      stepFinished,
      ...(event.reason === undefined ? {} : { reason: event.reason }),
      ...(failedBefore === undefined ? {} : { failedBefore }),
      ...(isFinished(event.state) && known.beganAt !== undefined ? { tookMs: event.at - known.beganAt } : {}),
    };
  };

  return {
    steps,
    transfers,
    get startedAt() {
      return startedAt;
    },
    get runId() {
      return runId;
    },
    cellOf: (step, cell) => cells.get(`${step}/${cell}`),
    apply: (event) => {
      switch (event.type) {
        case 'runStarted':
          startedAt = event.at;
          runId = event.runId;
          for (const { name, cells: keys } of event.steps) steps.set(name, createStep(name, keys?.length));
          return undefined;
        case 'stepExpanded': {
          const step = steps.get(event.step);
          if (step !== undefined) steps.set(event.step, createStep(event.step, event.cells.length));
          return undefined;
        }
        case 'cellChanged':
          return applyTransition(event);
        case 'attemptFailed': {
          const { step, cell, attempt, message } = event.failure;
          const known = cells.get(`${step}/${cell}`);
          // Its log may take longer to read than the next attempt takes to begin.
          if (known?.attempt === attempt) known.failure = message;
          return undefined;
        }
        case 'transfer': {
          const key = `${event.direction} ${event.name}`;
          if (event.done) transfers.delete(key);
          else transfers.set(key, event);
          return undefined;
        }
        case 'containerState': {
          const step = steps.get(event.step);
          if (step !== undefined) step.note = event.state;
          return undefined;
        }
        default:
          return undefined;
      }
    },
  };
}

function createStep(name: string, cells: number | undefined): StepProgress {
  return { name, cells, counts: new Map([['waiting', cells ?? 1]]) };
}
