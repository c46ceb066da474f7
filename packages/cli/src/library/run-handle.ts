import { SluiceError } from '@sluice/core';
import type { RunnerEvent, RunHandle as RunnerHandle } from '@sluice/runner';
import type { EventQueue } from './event-queue.ts';
import { createRunResult, type RunResult } from './run-result.ts';

/** A run that this process executes. */
export interface RunHandle {
  readonly runId: string;
  /** The run's directory in the home, absolute. */
  readonly directory: string;
  /**
   * Everything that happens to the run, from its start; each event is read once. Up to 100,000 unread events are kept: if
   * a program starts to read later than that, it gets the error `EVENTS_OVERFLOW`. A program that never reads them may
   * ignore them.
   */
  readonly events: AsyncIterable<RunnerEvent>;
  /** Resolves at the end of the run, whatever its status, and after `detach`. Rejects only for a bug. */
  readonly finished: Promise<RunResult>;
  /** Cancels the containers and starts no other steps; final steps still run. No effect if repeated. */
  cancel(): void;
  /** Stops following the run: its containers keep running. Resolves when the run can be resumed. */
  detach(): Promise<void>;
  /** Approves or rejects a step that waits for approval. Throws `SluiceError` `NOT_ASKED` if it does not. */
  approve(step: string, options?: { readonly approved?: boolean; readonly by?: string }): void;
}

/** The handle for programs. `close` releases what the run needed; it is called once, when the run has ended. */
export function createRunHandle(
  run: RunnerHandle,
  { queue, signal, close }: { queue: EventQueue; signal?: AbortSignal | undefined; close: () => Promise<void> },
): RunHandle {
  const cancel = () => run.cancel('the program');
  if (signal?.aborted) cancel();
  signal?.addEventListener('abort', cancel);
  const finished = run.finished
    .finally(async () => {
      signal?.removeEventListener('abort', cancel);
      queue.end();
      await close();
    })
    .then(createRunResult);
  return {
    runId: run.runId,
    directory: run.directory,
    events: queue.events,
    finished,
    cancel,
    detach: async () => {
      await run.detach();
      await finished;
    },
    approve: (step, { approved = true, by = 'the program' } = {}) => {
      if (run.approve(step, { approved, by })) return;
      throw new SluiceError('NOT_ASKED', `could not answer for ${step}: it does not wait for approval`);
    },
  };
}
