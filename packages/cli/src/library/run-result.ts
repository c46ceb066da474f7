import { type ExpressionHandle, type Json, own, SluiceError, type StepHandle } from '@sluice/core';
import type { RunReport } from '@sluice/runner';

/** The values of a step's results, by name; for a step with cells, each is the list of its cells' values in their order. */
export type ResultsOf<H extends Pick<StepHandle, 'results'>> = {
  readonly [K in keyof H['results']]: H['results'][K] extends ExpressionHandle<infer T> ? T : never;
};

/** How a run ended. */
export interface RunResult {
  readonly runId: string;
  /** `suspended` after `detach`; the run can be resumed. */
  readonly status: RunReport['status'];
  /** All that is known of the run: its steps, failures and outputs. */
  readonly report: RunReport;
  /**
   * The results of a step, with their types. Throws `SluiceError`: `NO_RESULT` if the step did not succeed,
   * `STEP_NOT_FOUND` if the run has no such step.
   *
   * @example
   * ```ts
   * import { pipeline, run } from 'sluice';
   *
   * const p = pipeline('train');
   * const fit = p.step('fit', { script: 'echo 0.9 > /sluice/results/accuracy', results: { accuracy: 'number' } });
   * const result = await (await run(p)).finished;
   * const accuracy: number = result.of(fit).accuracy;
   * console.log(accuracy);
   * ```
   */
  of<H extends Pick<StepHandle, 'name' | 'results'>>(step: H): ResultsOf<H>;
}

/** The result of a run with this report. */
export function createRunResult(report: RunReport): RunResult {
  return {
    runId: report.runId,
    status: report.status,
    report,
    of: (step) => resultsOf(report, step) as never,
  };
}

const SUCCEEDED: ReadonlySet<string> = new Set(['succeeded', 'cached']);

function resultsOf(
  report: RunReport,
  { name, results }: Pick<StepHandle, 'name' | 'results'>,
): Record<string, unknown> {
  const step = report.steps.find((one) => one.name === name);
  if (step === undefined) throw new SluiceError('STEP_NOT_FOUND', `run ${report.runId} has no step ${name}`);
  const succeeded = step.cells.filter(({ state }) => SUCCEEDED.has(state));
  if (succeeded.length < step.cells.length || !SUCCEEDED.has(step.state)) {
    const message = `step ${name} of run ${report.runId} has no results: it is ${step.state}`;
    throw new SluiceError('NO_RESULT', message);
  }
  const isPlain = step.cells.length === 1 && step.cells[0]?.key === '';
  const values = (result: string) => succeeded.map((cell) => own(cell.results, result) as Json);
  return Object.fromEntries(Object.keys(results).map((key) => [key, isPlain ? values(key)[0] : values(key)]));
}
