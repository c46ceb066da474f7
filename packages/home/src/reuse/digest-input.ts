import { own } from '@sluice/core';
import type { ContextSource, ReadInput, ReadSource } from '@sluice/run';
import { digestCell } from './digest-cell.ts';
import { digestCells, type LineageOf } from './lineage.ts';

/** The identity of what a cell mounts as an input. */
export function digestInput(run: ContextSource, lineage: LineageOf, { input, source }: ReadInput): string {
  const { from } = input;
  if ('volume' in from) {
    const place = own(run.facts.volumes, from.volume);
    const digest = own(place?.parts, from.path) ?? place?.digest;
    // The content of a volume that others can write to is unknown: a step that reads one is not looked up.
    return `${digest ?? `volume:${place?.volumeID}:${place?.path}`}/${from.path}`;
  }
  const path = from.path === undefined ? '' : `/${from.path}`;
  return `${digestSource(run, lineage, source!)}/${from.output}${path}`;
}

function digestSource(run: ContextSource, lineage: LineageOf, { step, cells, isSingle, isWhole }: ReadSource): string {
  if (run.plan.steps[step]!.step.service !== undefined)
    return isSingle && cells[0] !== undefined ? digestCell(run, step, cells[0]) : digestCells(run, { step, cells });
  if (isWhole) return lineage(step).digest;
  if (!isSingle) return digestCells(run, { step, cells });
  // A cell that was skipped passes on what came before it, as a skipped step does.
  return cells[0] === undefined ? 'absent' : lineage(step, cells[0]).digest;
}
