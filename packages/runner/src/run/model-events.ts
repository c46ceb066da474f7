import {
  describeApproval,
  describeFailure,
  type FollowedModel,
  type MoveListener,
  type ViewedRun,
  verdictOf,
} from '@sluice/run';
import { createCellReporter } from '../session/cell-reporter.ts';
import type { RunSession } from '../session/run-session.ts';

/** Reports what has changed in a model since the last call. */
export interface ModelEvents {
  readonly model: FollowedModel;
  report(): void;
}

/** Reports the present status of every cell; the first call of `report` continues from there. */
export function createModelEvents(
  follower: ViewedRun,
  { clock, report }: Pick<RunSession, 'clock' | 'report'>,
): ModelEvents {
  const { model, runId } = follower;
  const { facts, scheduler, moves } = model;
  const { plan } = facts;
  const listener: MoveListener = {};
  const source = { runId, plan, facts, scheduler, stopped: false };
  const cells = createCellReporter({ ...source, clock, report }, listener);
  const failures = createFailureEvents(follower, { clock, report });
  const asked = new Set<string>();
  let [seen, warnings] = [0, 0];

  function reportApproval(step: number, cell: number): void {
    const { name, each } = plan.steps[step]!.step;
    const key = each === undefined ? undefined : facts.cells[step]![cell]!.key;
    const place = `${step}/${key ?? ''}`;
    if (scheduler.state(step, cell) !== 'awaitingApproval' || asked.has(place)) return;
    asked.add(place);
    report({
      ...{ type: 'approvalAsked', at: clock.now(), step: name },
      ...(key !== undefined && { cell: key }),
      message: describeApproval(source, step, cell),
    });
  }

  function reportMoves(): void {
    const touched: (readonly [step: number, cell: number])[] = [];
    for (; seen < moves.length; seen++) {
      const { step, cell } = moves.at(seen);
      listener.onMove?.(step, cell);
      touched.push([step, cell]);
    }
    cells.flushAll();
    for (const [step, cell] of touched) {
      failures.note(step, cell);
      reportApproval(step, cell);
    }
  }

  cells.runStarted(true);
  reportMoves();
  // As after a resume, only new failures are reported.
  failures.forget();
  return {
    model,
    report() {
      for (; warnings < facts.warnings.length; warnings++) {
        report({ type: 'warning', ...facts.warnings[warnings]! });
      }
      reportMoves();
      failures.report();
    },
  };
}

/** Reports each failed attempt once, when its log is stored. */
function createFailureEvents(
  { model: { facts }, directory }: ViewedRun,
  { clock, report }: Pick<RunSession, 'clock' | 'report'>,
) {
  const known = new Set<string>();
  let open: { readonly step: number; readonly cell: number; readonly attempt: number }[] = [];
  const attemptsOf = (step: number, cell: number) => facts.known[step]?.[cell]?.attempts ?? [];

  function mayGetLog(at: (typeof open)[number]): boolean {
    const attempt = attemptsOf(at.step, at.cell).find((one) => one.attempt === at.attempt);
    return attempt?.logFile === undefined && attempt?.submitted === true && !facts.finished;
  }

  return {
    /** Looks for failed attempts of a cell. */
    note(step: number, cell: number): void {
      for (const attempt of attemptsOf(step, cell)) {
        const key = `${step}/${cell}/${attempt.attempt}`;
        if (known.has(key) || verdictOf(attempt)?.result !== 'failed') continue;
        known.add(key);
        open.push({ step, cell, attempt: attempt.attempt });
      }
    },
    forget(): void {
      open = [];
    },
    report(): void {
      const ready = open.filter((at) => !mayGetLog(at));
      open = open.filter((at) => !ready.includes(at));
      for (const at of ready) {
        report({ type: 'attemptFailed', at: clock.now(), ...describeFailure({ facts, directory }, at) });
      }
    },
  };
}
