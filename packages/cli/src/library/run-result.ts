import {
  type ExpressionHandle,
  guardArguments,
  type Json,
  own,
  type Pipeline,
  SluiceError,
  type StepHandle,
} from '@sluice/core';
import type { RunReport } from '@sluice/run';

/** The values of a step's results, by name; for a step with cells, each is the list of its cells' values in their order. */
export type ResultsOf<H extends Pick<StepHandle, 'results'>> = {
  readonly [K in keyof H['results']]: H['results'][K] extends ExpressionHandle<infer T> ? T : never;
};

/** The results that a pipeline declares, if only its file knows which. */
export type DeclaredResults = Readonly<Record<string, Json>>;

/** How a run ended. `R` are the values of the results that the pipeline declares. */
export interface RunResult<R = DeclaredResults> {
  readonly runId: string;
  /** `suspended` after `suspend`; the run can be resumed. */
  readonly status: RunReport['status'];
  /** All that is known of the run: its steps, failures and outputs. */
  readonly report: RunReport;
  /**
   * The results that the pipeline declares, by name. Reading one whose step did not succeed throws `SluiceError` `NO_RESULT`;
   * after `resume` without `pipeline`, it is undefined. `Object.keys` lists those that exist.
   */
  readonly results: R;
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

/** The result of a run with this report. `declared` are the results of its pipeline. */
export function createRunResult<R>(report: RunReport, declared: Pipeline['results'] = {}): RunResult<R> {
  return {
    runId: report.runId,
    status: report.status,
    report,
    results: declaredResults(report, declared) as R,
    of: (step) => {
      const named = guardArguments('of', () => ({ name: step.name, results: Object.keys(step.results) }));
      return resultsOf(report, named) as never;
    },
  };
}

/** The values that exist, and for each other declared name a getter that throws. */
function declaredResults({ runId, results = {} }: RunReport, declared: NonNullable<Pipeline['results']>): object {
  const missing = Object.entries(declared).filter(([name]) => !Object.hasOwn(results, name));
  const getters = missing.map(([name, { step }]) => {
    const get = () => {
      throw new SluiceError('NO_RESULT', `run ${runId} has no result ${name}: step ${step} did not succeed`);
    };
    return [name, { get, enumerable: false }];
  });
  return Object.defineProperties({ ...results }, Object.fromEntries(getters));
}

function resultsOf(
  report: RunReport,
  { name, results }: { readonly name: string; readonly results: readonly string[] },
): Record<string, unknown> {
  const step = report.steps.find((one) => one.step === name);
  if (step === undefined) throw new SluiceError('STEP_NOT_FOUND', `run ${report.runId} has no step ${name}`);
  const succeeded = step.cells.filter(({ status }) => status === 'succeeded');
  if (succeeded.length < step.cells.length || step.status !== 'succeeded') {
    const message = `step ${name} of run ${report.runId} has no results: its status is ${step.status}`;
    throw new SluiceError('NO_RESULT', message);
  }
  const isPlain = step.cells.length === 1 && step.cells[0]?.cell === '';
  const values = (result: string) => succeeded.map((cell) => own(cell.results, result) as Json);
  return Object.fromEntries(results.map((key) => [key, isPlain ? values(key)[0] : values(key)]));
}
