import type { PlannedStep } from '@sluice/core';
import type { MoveListener } from '../record/replay-run.ts';
import { explainCell } from '../report/explain-cell.ts';
import type { CellState } from '../scheduler/model/cell-state.ts';
import type { RunSession } from './run-session.ts';

/** Reports the cells that have moved. */
export interface CellReporter {
  runStarted(resumed: boolean): void;
  /** Reports every cell that has moved since the last call, once, with its present state. */
  flush(): void;
}

/** Listens to the scheduler's moves, so that the cost of a turn depends only on its moves. */
export function createCellReporter(session: RunSession, moves: MoveListener): CellReporter {
  const { plan, facts, scheduler, clock } = session;
  const reported: (CellState | undefined)[][] = plan.steps.map(() => []);
  const expanded = new Set<number>();
  let moved: (readonly [step: number, cell: number])[] = [];
  moves.onMove = (step, cell) => void moved.push([step, cell]);

  function reportCell(step: number, cell: number): void {
    const state = scheduler.state(step, cell);
    if (state === (reported[step]![cell] ?? 'waiting')) return;
    reported[step]![cell] = state;
    const reason = explainCell({ facts, scheduler }, step, cell);
    const id = facts.known[step]?.[cell]?.attempts.at(-1)?.id;
    session.report({
      type: 'cellChanged',
      at: clock.now(),
      step: plan.steps[step]!.step.name,
      cell: facts.cells[step]?.[cell]?.key ?? '',
      state,
      attempt: scheduler.attempt(step, cell),
      ...(id !== undefined && { containerID: id }),
      ...(reason !== undefined && { reason }),
    });
  }

  function reportCells(step: number): void {
    const cells = facts.cells[step];
    if (!cells || plan.steps[step]!.cells || expanded.has(step)) return;
    expanded.add(step);
    const { name } = plan.steps[step]!.step;
    session.report({ type: 'stepExpanded', at: clock.now(), step: name, cells: cells.map(({ key }) => key) });
  }

  return {
    runStarted(resumed) {
      session.report({
        type: 'runStarted',
        at: clock.now(),
        runId: session.runId,
        pipeline: plan.pipeline.name,
        resumed,
        steps: plan.steps.map(describeStep),
      });
      if (!resumed) return;
      for (const { index } of plan.steps) {
        for (let cell = 0; cell < (scheduler.cellCount(index) ?? 1); cell++) moved.push([index, cell]);
      }
    },
    flush() {
      const cells = moved;
      moved = [];
      for (const [step, cell] of cells) {
        reportCells(step);
        reportCell(step, cell);
      }
    },
  };
}

function describeStep({ step, cells }: PlannedStep): { readonly name: string; readonly cells?: readonly string[] } {
  return cells ? { name: step.name, cells: cells.map(({ key }) => key) } : { name: step.name };
}
