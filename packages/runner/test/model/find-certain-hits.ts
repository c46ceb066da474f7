import type { RunReport } from '@sluice/run';
import type { Expected } from './interpret-file.ts';
import type { ModelRun, ModelStep } from './model-file.ts';

interface Played {
  readonly run: ModelRun;
  readonly expected: Expected;
  readonly report: RunReport;
}

/**
 * Cached cells that did their work although the run before was the same in every respect, and all that came before them was
 * reused or a source: a cache that is never used would make no byte wrong.
 */
export function findCertainHits(before: Played | undefined, now: Played): string[] {
  if (!before || !isSame(before.run, now.run)) return [];
  const { steps } = now.run.file;
  const certain = new Set<string>();
  /** Nothing before their end was executed. */
  const quiet = new Set<string>();
  for (const [name, step] of Object.entries(steps)) {
    const outcomes = [before, now].map(({ expected }) => expected.steps.get(name)!);
    const isIdle = outcomes.every(({ ending, cells }) => ending === 'skipped' || cells.length === 0);
    const isCertain =
      step.cache && outcomes[0]!.ending === 'succeeded' && findSources(step).every((one) => quiet.has(one));
    if (isCertain && !isIdle) certain.add(name);
    if (isIdle ? findAllBefore(step).every((one) => quiet.has(one)) : isCertain) quiet.add(name);
  }
  return now.report.steps
    .filter(({ step: name }) => certain.has(name))
    .flatMap(({ step: name, cells }) =>
      cells.filter(({ status, reused }) => status === 'succeeded' && !reused).map(({ cell }) => `${name}/${cell}`),
    );
}

function isSame(before: ModelRun, now: ModelRun): boolean {
  const isCalm = before.luck === '' && now.luck === '' && !now.collectsGarbage && !now.reuse;
  const key = ({ file, params, source, clusterID }: ModelRun) => JSON.stringify([file, params, source, clusterID]);
  return isCalm && key(before) === key(now);
}

/** Steps whose outputs or results a step takes, that it names in `needs`, or whose end it reads. */
function findSources(step: ModelStep): string[] {
  const inputs = Object.values(step.inputs ?? {}).flatMap((input) =>
    [typeof input === 'string' ? input : input.from]
      .flat()
      .flatMap((from) => (from.startsWith('volumes.') ? [] : [from.split('.')[0]!])),
  );
  const texts = [...step.command, step.foreach ?? ''].join(' ');
  const named = [...texts.matchAll(/steps\.(\w+)\./g), ...(step.when ?? '').matchAll(/steps\.(\w+)\.status/g)];
  return [...inputs, ...Object.keys(step.needs ?? {}), ...named.map((match) => match[1]!)];
}

function findAllBefore(step: ModelStep): string[] {
  return [...findSources(step), ...[...(step.when ?? '').matchAll(/steps\.(\w+)\./g)].map((match) => match[1]!)];
}
