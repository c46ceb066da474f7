import type { RunReport } from '../../src/report/run-report.ts';
import type { Expected } from './interpret-file.ts';
import type { ModelRun, ModelStep } from './model-file.ts';

interface Played {
  readonly run: ModelRun;
  readonly expected: Expected;
  readonly report: RunReport;
}

/**
 * Cached cells that did their work although the run before was the same in every respect, and all that they read was
 * reused, skipped or a source: a cache that is never used would make no byte wrong.
 */
export function findCertainHits(before: Played | undefined, now: Played): string[] {
  if (!before || !isSame(before.run, now.run)) return [];
  const { steps } = now.run.file;
  const certain = new Set<string>();
  for (const [name, step] of Object.entries(steps)) {
    const wasSkipped = (one: string) =>
      before.expected.steps.get(one)!.ending === 'skipped' && now.expected.steps.get(one)!.ending === 'skipped';
    const isKnown = findSources(step).every((one) => certain.has(one) || wasSkipped(one));
    if (step.cache && isKnown && before.expected.steps.get(name)!.ending === 'succeeded') certain.add(name);
  }
  return now.report.steps
    .filter(({ name }) => certain.has(name))
    .flatMap(({ name, cells }) =>
      cells.filter(({ status, reused }) => status === 'succeeded' && !reused).map(({ cell }) => `${name}/${cell}`),
    );
}

function isSame(before: ModelRun, now: ModelRun): boolean {
  const isCalm = before.luck === '' && now.luck === '' && !now.collectsGarbage && !now.reuse;
  const key = ({ file, params, source, clusterID }: ModelRun) => JSON.stringify([file, params, source, clusterID]);
  return isCalm && key(before) === key(now);
}

/** Steps whose outputs or results a step takes. */
function findSources(step: ModelStep): string[] {
  const inputs = Object.values(step.inputs ?? {}).flatMap((from) =>
    from.startsWith('volumes.') ? [] : [from.split('.')[0]!],
  );
  const texts = [...step.command, step.foreach ?? ''].join(' ');
  return [...inputs, ...[...texts.matchAll(/steps\.(\w+)\./g)].map((match) => match[1]!)];
}
