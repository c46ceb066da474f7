import type { Reporter, UnnumberedEvent } from '@sluice/run';
import type { FilledOptions } from './run-defaults.ts';
import type { RunnerOptions } from './run-options.ts';

/** Options of a known run, whose events are numbered before the caller's reporter receives them. */
export type NumberedOptions<T> = FilledOptions<T> & {
  readonly runId: string;
  /** Value of a secret of this run. */
  readonly readSecret: (name: string) => string | undefined;
  readonly report: (event: UnnumberedEvent) => void;
};

/** Starts the numbers of a run's events. Called once for each execution: everything that reports uses the result. */
export function numberEvents<T extends Pick<RunnerOptions, 'reporter' | 'secrets'>>(
  options: FilledOptions<T>,
  runId: string,
): NumberedOptions<T> {
  let seq = 0;
  const { reporter } = options;
  const report = (event: UnnumberedEvent) => {
    seq += 1;
    const { type, at } = event;
    reporter?.report(Object.assign({ type, runId, seq, at }, event) as Parameters<Reporter['report']>[0]);
  };
  return { ...options, runId, report, readSecret: (name) => options.secrets?.(name, runId) };
}
