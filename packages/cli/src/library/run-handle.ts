import { type Pipeline, SluiceError } from '@sluice/core';
import type { RunnerEvent } from '@sluice/run';
import type { RunHandle as RunnerHandle } from '@sluice/runner';
import type { EventQueue } from './event-queue.ts';
import { OPTIONS, readArgument, TEXT } from './read-options.ts';
import { createRunResult, type DeclaredResults, type RunResult } from './run-result.ts';

/** A run that this process executes. `R` are the values of the results that its pipeline declares. */
export interface RunHandle<R = DeclaredResults> {
  readonly runId: string;
  /** The run's directory in the home, absolute. */
  readonly directory: string;
  /**
   * Everything that happens to the run, from its start; each event is read once. Up to 100,000 unread events are kept: if
   * a program starts to read later than that, it gets the error `EVENTS_OVERFLOW`. A program that never reads them may
   * ignore them.
   */
  readonly events: AsyncIterable<RunnerEvent>;
  /** Resolves at the end of the run, whatever its status, and after `suspend`. Rejects only for a bug. */
  readonly finished: Promise<RunResult<R>>;
  /** Cancels the containers and starts no other steps; final steps still run. No effect if repeated. */
  cancel(): void;
  /** Stops following the run: its containers keep running. Resolves when the run can be resumed. */
  suspend(): Promise<void>;
  /** Approves a step that waits for approval. Throws `SluiceError` `NOT_ASKED` if it does not. */
  approve(step: string, options?: { readonly by?: string }): void;
  /** Rejects a step that waits for approval, as `approve`. */
  reject(step: string, options?: { readonly by?: string }): void;
}

/** What the handle of a run needs in addition to the run. */
export interface RunHandleParts {
  readonly queue: EventQueue;
  readonly signal?: AbortSignal | undefined;
  readonly close: () => Promise<void>;
  /** The results that the pipeline declares; undefined if it is unknown. */
  readonly declared?: Pipeline['results'] | undefined;
}

/** The handle for programs. `close` releases what the run needed; it is called once, when the run has ended. */
export function createRunHandle<R>(
  run: RunnerHandle,
  { queue, signal, close, declared }: RunHandleParts,
): RunHandle<R> {
  const cancel = () => run.cancel('the program');
  if (signal?.aborted) cancel();
  signal?.addEventListener('abort', cancel);
  const finished = run.finished
    .finally(async () => {
      signal?.removeEventListener('abort', cancel);
      queue.end();
      await close();
    })
    .then((report) => createRunResult<R>(report, declared));
  const answer = (verb: 'approve' | 'reject', step: string, options: { readonly by?: string } = {}) => {
    readArgument(`${verb}: step`, TEXT, step);
    const { by = 'the program' } = readArgument(verb, OPTIONS.answer, options);
    if (run.approve(step, { approved: verb === 'approve', by })) return;
    throw new SluiceError('NOT_ASKED', `could not answer for ${step}: it does not wait for approval`);
  };
  return {
    runId: run.runId,
    directory: run.directory,
    events: queue.events,
    finished,
    cancel,
    suspend: async () => {
      await run.suspend();
      await finished;
    },
    approve: (step, options) => answer('approve', step, options),
    reject: (step, options) => answer('reject', step, options),
  };
}
