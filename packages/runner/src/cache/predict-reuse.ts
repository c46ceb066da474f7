import { listedSteps } from '@sluice/core';
import { createLookup } from '@sluice/home';
import type { CacheSource, SchedulerEvent } from '@sluice/run';
import type { RunSession } from '../session/run-session.ts';
import { findRestored, type RestoredCells, type TemporaryCheck } from './find-restored.ts';
import { createSimulatedRun, type SuccessCheck, simulateReuse } from './simulate-reuse.ts';

/** What a simulation before the run has found. */
export interface ReusePrediction {
  /** The cells that must be computed again although a success of them can be reused. */
  readonly restored: RestoredCells;
  /** The success that a cell reuses, if the run has gone as predicted so far: looking it up again would find the same. */
  find(step: number, cell: number): CacheSource | undefined;
  /** The run has not gone as predicted. */
  distrust(): void;
  onEvent(event: SchedulerEvent): void;
}

/** Simulates the run: the outputs that its containers will mount must exist. */
export async function predictReuse(
  session: RunSession,
  given: {
    readonly records: Parameters<typeof createLookup>[1];
    readonly findFault: SuccessCheck;
    readonly hasTemporary: TemporaryCheck;
  },
): Promise<ReusePrediction> {
  const run = createSimulatedRun(session, session.facts);
  const lookUp = createLookup(run, given.records);
  await simulateReuse(run, { lookUp, findFault: given.findFault, clock: session.clock });
  let isTrusted = isPredictable(session);
  return {
    restored: await findRestored(run, given.hasTemporary),
    find: (step, cell) => (isTrusted ? run.facts.known[step]?.[cell]?.cached : undefined),
    distrust() {
      isTrusted = false;
    },
    onEvent(event) {
      // A cell that is computed again may fail, and a reader may tolerate that.
      if (event.type === 'ended' && event.outcome.result !== 'succeeded') isTrusted = false;
    },
  };
}

/**
 * Whether all that a cell reads of earlier cells is the same in the simulation: people, services and time are not in it, and
 * the cells of a listed axis may have other numbers.
 */
function isPredictable({ plan }: RunSession): boolean {
  if (listedSteps(plan).size > 0) return false;
  return plan.steps.every(
    ({ step }) => step.approval === undefined && step.service === undefined && step.deadlineMs === undefined,
  );
}
