import { own } from '@sluice/core';
import { type ContextSource, type ReadInput, type ReadSource, succeededCells } from '@sluice/run';
import { digestCell } from './digest-cell.ts';
import { digestCells, type LineageOf } from './lineage.ts';

/** The identity of what a cell mounts as an input. */
export function digestInput(run: ContextSource, lineage: LineageOf, { input, source }: ReadInput): string {
  const { from } = input;
  if ('volume' in from) {
    const place = own(run.facts.volumes, from.volume);
    // The content of a volume that others can write to is unknown: a step that reads one is not looked up.
    return `${place?.digest ?? `volume:${place?.volumeID}:${place?.path}`}/${from.path}`;
  }
  const path = from.path === undefined ? '' : `/${from.path}`;
  return `${digestSource(run, lineage, { source: source!, isOptional: input.optional === true })}/${from.output}${path}`;
}

function digestSource(
  run: ContextSource,
  lineage: LineageOf,
  { source, isOptional }: { readonly source: ReadSource; readonly isOptional: boolean },
): string {
  const { step, cells, isSingle, isWhole } = source;
  // An empty directory is mounted, whatever was tried.
  if (isOptional && succeededCells(run, source).length === 0) return 'absent';
  if (run.plan.steps[step]!.step.service !== undefined) return digestCell(run, step, 0);
  if (isWhole) return lineage(step).digest;
  return isSingle ? lineage(step, cells[0]!).digest : digestCells(run, { step, cells });
}
