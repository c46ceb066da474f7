import type { CellState } from '../scheduler/cell-state.ts';
import { explainCell } from './create-report.ts';
import type { RunSession } from './run-session.ts';

/** Tells the reporter which cells have moved. */
export interface CellReporter {
  runStarted(resumed: boolean): void;
  /** Something was said about a cell: it may have moved. */
  touch(about: { readonly type: string; readonly step?: number; readonly cell?: number }): void;
  /** Reports every touched cell whose state is another than the one last reported. */
  flush(): void;
}

/** Steps and cells are looked at only when something was said about them, so that a turn costs what happened in it. */
export function createCellReporter(session: RunSession): CellReporter {
  const { plan, facts, scheduler } = session;
  const reported: (CellState | undefined)[][] = plan.steps.map(() => []);
  const touched = new Set<number>();

  function reportStep(step: number): void {
    const cells = facts.cells[step] ?? [];
    for (let cell = 0; cell < cells.length; cell++) {
      const state = scheduler.state(step, cell);
      const last = reported[step]![cell] ?? 'waiting';
      if (state === last) continue;
      reported[step]![cell] = state;
      const reason = explainCell({ facts, scheduler }, step, cell);
      const id = facts.known[step]?.[cell]?.attempts.at(-1)?.id;
      session.report({
        type: 'cellChanged',
        at: session.clock.now(),
        step: plan.steps[step]!.step.name,
        cell: cells[cell]!.key,
        state,
        attempt: scheduler.attempt(step, cell),
        ...(id !== undefined && { containerID: id }),
        ...(reason !== undefined && { reason }),
      });
    }
  }

  return {
    runStarted(resumed) {
      session.report({
        type: 'runStarted',
        at: session.clock.now(),
        runId: session.runId,
        pipeline: plan.pipeline.name,
        resumed,
        steps: plan.steps.map(({ step }, index) => {
          const cells = facts.cells[index]?.map((cell) => cell.key);
          return cells ? { name: step.name, cells } : { name: step.name };
        }),
      });
      if (resumed) for (let step = 0; step < plan.steps.length; step++) touched.add(step);
    },
    touch(about) {
      if (about.step !== undefined) touched.add(about.step);
    },
    flush() {
      for (const step of touched) reportStep(step);
      touched.clear();
    },
  };
}
