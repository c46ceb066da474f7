import { type Cell, describeAxes, type PlannedStep } from '@sluice/core';
import {
  type CellState,
  explainCell,
  exposedPorts,
  type MoveListener,
  statusOfCell,
  type UnnumberedEvent,
} from '@sluice/run';
import type { RunSession } from './run-session.ts';

/** Reports the cells that have moved. */
export interface CellReporter {
  runStarted(resumed: boolean): void;
  /**
   * Reports every cell that has moved since the last call, once, with its present status. Of very many cells, it reports
   * the first now and the others in later turns of the event loop.
   */
  flush(): void;
  /** As `flush`, but reports all of them now: before the end of the run. */
  flushAll(): void;
}

/** The part of a session that the reporter reads. */
type CellSource = Pick<RunSession, 'plan' | 'facts' | 'scheduler' | 'report' | 'stopped'> & {
  readonly clock: Pick<RunSession['clock'], 'now' | 'defer'>;
};

type CellEvent = Omit<Extract<UnnumberedEvent, { type: 'cellChanged' }>, 'at'>;

/** Of the last event of a cell what the next is compared with, and the state of the scheduler then. */
interface Reported extends Pick<CellEvent, 'status' | 'attempt'> {
  readonly state: CellState;
  readonly message: string | undefined;
}

/** Cells reported at once: the beginning of a run with 100,000 cells would occupy the process for more than a second. */
const MOST_AT_ONCE = 1_000;

/** Listens to the scheduler's moves, so that the cost of a turn depends only on its moves. */
export function createCellReporter(session: CellSource, moves: MoveListener): CellReporter {
  const { plan, facts, scheduler, clock } = session;
  const reported: (Reported | undefined)[][] = plan.steps.map(() => []);
  const remember = createMemory();
  const expanded = new Set<string>();
  /** The step and the cell of each move in turn: pairs would be objects, which V8 keeps in the old generation. */
  const moved: number[] = [];
  let isDeferred = false;
  moves.onMove = (step, cell) => void moved.push(step, cell);

  function reportCell(step: number, cell: number): void {
    reportCells(step, cell);
    const state = scheduler.state(step, cell);
    const before = reported[step]![cell];
    if (state === (before?.state ?? 'waiting')) return;
    const event = describeCell(session, step, cell);
    reported[step]![cell] = remember(state, event);
    // Several states of the scheduler are `ready` for the user.
    if (before !== undefined && saysTheSame(before, event)) return;
    session.report({ at: clock.now(), ...event });
  }

  function reportCells(step: number, cell: number): void {
    const batch = facts.batches[step]?.batchOf(cell) ?? 0;
    if (expanded.has(`${step}/${batch}`)) return;
    const known = findExpansion(session, step, batch);
    if (known === undefined) return;
    expanded.add(`${step}/${batch}`);
    session.report({ type: 'stepExpanded', at: clock.now(), step: plan.steps[step]!.step.name, ...known });
  }

  function report(most: number): void {
    const now = moved.splice(0, 2 * most);
    for (let index = 0; index < now.length; index += 2) reportCell(now[index]!, now[index + 1]!);
  }

  function flush(): void {
    report(MOST_AT_ONCE);
    if (moved.length === 0 || isDeferred) return;
    isDeferred = true;
    clock.defer(() => {
      isDeferred = false;
      if (!session.stopped) flush();
    });
  }

  return {
    runStarted(resumed) {
      const steps = plan.steps.map(describeStep);
      session.report({ type: 'runStarted', at: clock.now(), pipeline: plan.pipeline.name, resumed, steps });
      if (!resumed) return;
      for (const { index } of plan.steps) {
        for (let cell = 0; cell < (scheduler.cellCount(index) ?? 1); cell++) moved.push(index, cell);
      }
    },
    flush,
    flushAll: () => report(moved.length),
  };
}

/** The cells of a `foreach`, or those that have replaced one that stood for a list. */
function findExpansion(
  { plan, facts }: CellSource,
  step: number,
  batch: number,
): { readonly replaced?: string; readonly cells: readonly string[] } | undefined {
  const cells = facts.cells[step];
  const planned = plan.steps[step]!.cells;
  const keyOf = ({ key }: Cell): string => key;
  if (planned === undefined) return cells && { cells: cells.map(keyOf) };
  const batches = facts.batches[step];
  // One that stood for an empty list is reported as skipped.
  if ((batches?.sizeOf(batch) ?? 0) === 0) return undefined;
  return { replaced: planned[batch]!.key, cells: batches!.members(batch).map((one) => keyOf(cells![one]!)) };
}

function describeCell({ plan, facts, scheduler }: CellSource, step: number, cell: number): CellEvent {
  const message = explainCell({ facts, scheduler }, step, cell);
  const of = facts.cells[step]?.[cell];
  const axes = of && describeAxes(plan, of);
  const known = facts.known[step]?.[cell];
  const id = known?.attempts.at(-1)?.id;
  const { reused, ...status } = statusOfCell({ facts, scheduler }, step, cell);
  return {
    type: 'cellChanged',
    step: plan.steps[step]!.step.name,
    cell: of?.key ?? '',
    ...(axes && { axes }),
    ...status,
    ...(reused && { reused, ...(known?.cached && { reusedFrom: known.cached.runId }) }),
    attempt: scheduler.attempt(step, cell),
    ...(id !== undefined && { containerId: id }),
    ...(message !== undefined && { message }),
    ...exposedPorts({ facts, scheduler }, step, cell),
  };
}

/** Cells without a message share what is kept of them: there are few combinations of the rest. */
function createMemory(): (state: CellState, event: CellEvent) => Reported {
  const shared = new Map<string, Reported>();
  return (state, { status, attempt, message }) => {
    const made = { state, status, attempt, message };
    if (message !== undefined) return made;
    const key = `${state} ${status} ${attempt}`;
    const known = shared.get(key) ?? made;
    shared.set(key, known);
    return known;
  };
}

function saysTheSame(before: Reported, event: CellEvent): boolean {
  return before.status === event.status && before.attempt === event.attempt && before.message === event.message;
}

function describeStep({ step, cells }: PlannedStep): { readonly step: string; readonly cells?: readonly string[] } {
  return cells ? { step: step.name, cells: cells.map(({ key }) => key) } : { step: step.name };
}
