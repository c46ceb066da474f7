import { own } from '@sluice/core';
import { hasSucceeded } from '../facts/has-succeeded.ts';
import { isRemoved } from '../facts/is-removed.ts';
import { cellsInOrder } from '../facts/listed-cells.ts';
import { locateCells } from '../facts/locate-output.ts';
import { scopeOn } from '../facts/place-of.ts';
import { stepIndex } from '../facts/step-context.ts';
import type { OutputLocation, OutputReport } from '../schemas/output.ts';
import type { ReportSource } from './report-source.ts';

/** A temporary output of a cell that no longer exists. */
export interface RemovedOutput {
  readonly step: string;
  /** `''` for a plain step. */
  readonly cell: string;
  readonly output: string;
}

type OutputSource = Pick<ReportSource, 'facts' | 'scheduler'>;

/** The outputs of the pipeline whose steps have succeeded, by name. */
export function reportOutputs(source: OutputSource): Record<string, OutputReport> {
  const { facts } = source;
  const { plan } = facts;
  const outputs: Record<string, OutputReport> = {};
  for (const [name, { from }] of Object.entries(plan.pipeline.outputs)) {
    const step = stepIndex(plan, from.step);
    if (step === undefined || !hasOutput(source, step)) continue;
    const publishedTo = own(facts.delivered, name);
    const notPublished = own(facts.undelivered, name);
    outputs[name] = {
      ...from,
      locations: locatePlaces(source, { step, output: from.output }),
      ...(publishedTo !== undefined && { publishedTo }),
      ...(notPublished !== undefined && { notPublished }),
    };
  }
  return outputs;
}

/** Whether the output of a step is complete: all of its cells have succeeded, but for those of a step with `each` that were skipped. */
function hasOutput({ facts, scheduler }: OutputSource, step: number): boolean {
  if (SUCCESSES.has(scheduler.state(step))) return true;
  if (facts.plan.steps[step]!.step.each === undefined) return false;
  const states = new Set((facts.cells[step] ?? []).map((_, cell) => scheduler.state(step, cell)));
  states.delete('skipped');
  return states.size > 0 && [...states].every((state) => SUCCESSES.has(state));
}

const SUCCESSES: ReadonlySet<string> = new Set(['succeeded', 'cached']);

/** The outputs that cells of steps have published so far, in the order of the file; also those of a step that failed. */
export function reportStepOutputs(source: OutputSource): OutputReport[] {
  return source.facts.plan.steps.flatMap(({ index, step }) =>
    Object.keys(step.outputs).flatMap((output) => {
      const locations = locatePlaces(source, { step: index, output });
      return locations.length === 0 ? [] : [{ step: step.name, output, locations }];
    }),
  );
}

/** The outputs of cells that were temporary and no longer exist. */
export function reportRemovedOutputs({ facts, scheduler }: OutputSource): RemovedOutput[] {
  return facts.plan.steps.flatMap(({ index, step }) =>
    Object.keys(step.outputs).flatMap((output) =>
      (facts.cells[index] ?? []).flatMap(({ key }, cell) => {
        const isGone =
          isRemoved(facts, { step: index, cell, output }) && hasSucceeded({ facts, scheduler }, index, cell);
        return isGone ? [{ step: step.name, cell: key, output }] : [];
      }),
    ),
  );
}

function locatePlaces(
  { facts, scheduler }: OutputSource,
  of: { readonly step: number; readonly output: string },
): OutputLocation[] {
  const run = { runId: facts.header?.runId ?? '', plan: facts.plan, facts, scheduler };
  const cells = cellsInOrder(facts, of.step).filter((cell) => !isRemoved(facts, { ...of, cell }));
  return locateCells(run, { ...of, cells }).map(({ cell, clusterID, volumeID, path }) => {
    const { accountID } = scopeOn(facts, clusterID);
    return { cell, clusterId: clusterID, accountId: accountID, volumeId: volumeID, path };
  });
}
