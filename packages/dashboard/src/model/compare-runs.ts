import type { RunDetails } from '@sluice/host';
import { beganAt } from './began-at.ts';

/** One value of every run, as text. */
export interface ComparedRow {
  readonly name: string;
  /** Empty where a run has none. */
  readonly values: readonly string[];
  readonly isDifferent: boolean;
}

/** Status, times, parameters, results and states of steps as rows, one value for each run. */
export function compareRuns(runs: readonly RunDetails[]): ComparedRow[] {
  const values = runs.map(valuesOf);
  const names = [...new Set(values.flatMap((one) => [...one.keys()]))];
  return names.map((name) => {
    const row = values.map((one) => one.get(name) ?? '');
    return { name, values: row, isDifferent: new Set(row).size > 1 };
  });
}

/** The lines of a table with the runs as columns. */
export function linesOf(rows: readonly ComparedRow[], runIds: readonly string[]): string[][] {
  return [['value', ...runIds], ...rows.map(({ name, values }) => [name, ...values])];
}

function valuesOf(run: RunDetails): Map<string, string> {
  const values = new Map<string, string>([
    ['pipeline', run.pipeline],
    ['status', run.status],
    ['created', run.createdAt],
  ]);
  if (run.endedAt !== undefined)
    values.set('duration (s)', ((Date.parse(run.endedAt) - beganAt(run)) / 1_000).toFixed(1));
  for (const [name, value] of Object.entries(run.params)) values.set(`parameter ${name}`, textOf(value));
  for (const [name, value] of Object.entries(run.results ?? {})) values.set(`result ${name}`, textOf(value));
  run.plan.steps.forEach(({ step: name }, step) => {
    const { status, reused, counts, beganAt: began, endedAt: ended } = run.steps[step]!;
    const cells = Object.entries(counts);
    const isOne = cells.reduce((sum, [, count]) => sum + count, 0) <= 1;
    const words = cells.map(([word, count]) => `${count} ${word}`).join(', ');
    values.set(`step ${name}`, isOne ? (reused ? 'reused' : status) : words);
    if (began !== undefined && ended !== undefined)
      values.set(`step ${name} (s)`, ((Date.parse(ended) - Date.parse(began)) / 1_000).toFixed(1));
  });
  return values;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
