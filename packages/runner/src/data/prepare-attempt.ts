import type { InstanceType } from '@sluice/client';
import type { SchedulerEvent } from '@sluice/run';
import type { Attempt } from '../session/attempt.ts';
import type { RunSession } from '../session/run-session.ts';
import { findMissingPath } from './find-missing-path.ts';
import { createInputGuard, type InputGuard } from './input-guard.ts';
import { createInputPreparation } from './prepare-inputs.ts';
import type { WorkspaceFiles } from './prepare-volumes.ts';
import { createPrivateCopies } from './private-copies.ts';

/** Prepares what an attempt's container mounts, and cleans up after its end. */
export interface AttemptPreparation {
  readonly guard: Pick<InputGuard, 'isNeeded' | 'check'>;
  /** Resolves to a message if the attempt cannot start. Returns undefined if there is nothing to prepare. */
  prepare(attempt: Attempt): Promise<string | undefined> | undefined;
  /** To be called after the service has rejected the container. Resolves to the reason if an input explains it. */
  explainRejection(attempt: Attempt): Promise<string | undefined>;
  onEvent(event: SchedulerEvent): void;
  /** Deletes the private copies at the end of the run. Returns undefined if the run never has any. */
  finish(): Promise<void> | undefined;
}

/** Checks, transfers, guards and copies inputs in this order. */
export function createAttemptPreparation(
  session: RunSession,
  given: {
    readonly workspace: WorkspaceFiles;
    readonly instanceTypes: readonly InstanceType[];
    /** Why the attempt cannot start: something that it mounts was removed. */
    readonly findRemoved: (attempt: Attempt) => Promise<string | undefined> | undefined;
  },
): AttemptPreparation {
  const prepareInputs = createInputPreparation(session, given.workspace);
  const copies = createPrivateCopies(session, given.workspace);
  const guard = createInputGuard(session, given);

  async function prepareInOrder(
    attempt: Attempt,
    inputs: Promise<string | undefined> | undefined,
  ): Promise<string | undefined> {
    const isNeeded = guard.isNeeded(attempt.at, attempt.ref.clusterID);
    const verify = isNeeded ? () => guard.checkCopies(attempt) : undefined;
    return (await inputs) ?? (await guard.admit(attempt)) ?? (await copies.make(attempt, verify));
  }

  function prepareAll(attempt: Attempt): Promise<string | undefined> | undefined {
    const inputs = prepareInputs(attempt);
    if (!inputs && !guard.isNeeded(attempt.at, attempt.ref.clusterID)) return copies.make(attempt);
    return prepareInOrder(attempt, inputs);
  }

  return {
    guard,
    prepare(attempt) {
      const removed = given.findRemoved(attempt);
      return removed ? removed.then((message) => message ?? prepareAll(attempt)) : prepareAll(attempt);
    },
    explainRejection: (attempt) => findMissingPath(session, attempt, given.workspace),
    onEvent(event) {
      copies.onEvent(event);
      guard.onEvent(event);
    },
    finish: () => copies.removeAll(),
  };
}
