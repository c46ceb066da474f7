import { isFannedOut, type RunModel, SHOWN_STATUSES } from '@sluice/run';
import {
  type CellPlace,
  describeAttempt,
  describeCell,
  describeRun,
  describeStep,
  type SpanSource,
  type SpanTimes,
} from './describe-spans.ts';
import type { Span } from './span.ts';

/** Creates the spans of a run from its model. */
export interface SpanCollector {
  /**
   * The next spans of parts that have ended, about `limit` at most; empty if there are no more. Those that ended at or before
   * the position `sent` of the journal are omitted.
   */
  collect(sent: number, limit: number): Span[];
}

/** What the moves say about a step with cells so far. */
interface SeenStep {
  ended: number;
  startAt: number;
}

/** What the moves say about a cell so far. */
interface SeenCell {
  readonly startAt: number;
  attempt: number;
}

/**
 * Reads the moves of the model once. A part that has ended never changes, so it does not matter when, and by which process,
 * its span is created. Parts that were skipped, or canceled before they ran, have no span.
 */
export function createSpanCollector(runId: string, model: RunModel): SpanCollector {
  const { facts, moves } = model;
  const cells: SeenCell[][] = facts.plan.steps.map(() => []);
  const steps: SeenStep[] = facts.plan.steps.map(() => ({ ended: 0, startAt: Number.POSITIVE_INFINITY }));
  let next = 0;
  let isRunCollected = false;

  function collectMove(source: SpanSource, index: number): Span[] {
    const { step, cell, at, attempt, status } = moves.at(index);
    const place = { step, cell };
    cells[step]![cell] ??= { startAt: at, attempt };
    const seen = cells[step]![cell];
    const before = seen.attempt;
    seen.attempt = attempt;
    // The next attempt begins: the one before it has failed.
    const failed = attempt > before ? describeAttempt(source, place, before) : [];
    if (!SHOWN_STATUSES[status]!.hasEnded) return failed;
    const times = { startAt: seen.startAt, endAt: at };
    return [
      ...failed,
      ...describeAttempt(source, place, attempt),
      ...describeCell(source, place, times),
      ...collectStep(source, place, times),
    ];
  }

  /** The span of a step with cells, once the last of them has ended. */
  function collectStep(source: SpanSource, { step }: CellPlace, { startAt, endAt }: SpanTimes): Span[] {
    const seen = steps[step]!;
    seen.ended++;
    seen.startAt = Math.min(seen.startAt, startAt);
    if (!isFannedOut(facts, step) || seen.ended < model.states[step]!.length) return [];
    const hasRun = facts.known[step]!.some(({ attempts, cached }) => attempts.length > 0 || cached !== undefined);
    return hasRun ? [describeStep(source, step, { startAt: seen.startAt, endAt })] : [];
  }

  return {
    collect(sent, limit) {
      const { scheduler } = model;
      if (scheduler === undefined) return [];
      const source = { runId, model: { facts, scheduler } };
      const spans: Span[] = [];
      for (; next < moves.length && spans.length < limit; next++) {
        const found = collectMove(source, next);
        if (moves.at(next).position > sent) spans.push(...found);
      }
      if (spans.length < limit && facts.finished && !isRunCollected) {
        isRunCollected = true;
        if (model.position > sent) spans.push(describeRun(source));
      }
      return spans;
    },
  };
}
