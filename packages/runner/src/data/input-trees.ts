import { own, type Plan, writesToShared } from '@sluice/core';
import { locateOutput, type ReadSource, readInputs, succeededCells } from '@sluice/run';
import type { RunSession } from '../session/run-session.ts';
import type { TreeState } from '../trees/tree-state.ts';
import { hasPrivateCopy, inputMounts } from './create-mounts.ts';

/** A tree that an attempt reads, and that must not change. */
export interface InputTree extends Omit<TreeState, 'entries'> {
  readonly clusterID: string;
  /** The name of the step's input. */
  readonly input: string;
  /** The origin in the notation of the pipeline file, for messages. */
  readonly from: string;
  /** The container mounts a private copy instead of the tree. */
  readonly isCopied: boolean;
}

/**
 * The trees that the attempts of a cell read on a cluster, without volumes to which others may write: those with an
 * `id`, and those to which a step of the pipeline writes.
 */
export function listInputTrees(
  session: RunSession,
  { step, cell }: { readonly step: number; readonly cell: number },
  clusterID: string,
): InputTree[] {
  const { plan, facts } = session;
  const reader = { step: plan.steps[step]!.step.name, cell: facts.cells[step]?.[cell]?.key ?? '' };
  return readInputs(session, step, cell).flatMap((read) => {
    const { name: input, input: given, source } = read;
    const { from } = given;
    if ('volume' in from && isWritten(session, from.volume)) return [];
    const hasCells = source?.isSingle === false;
    const name = 'volume' in from ? `volumes.${from.volume}` : `${from.step}.${from.output}`;
    const isCopied = hasPrivateCopy(given, plan.pipeline);
    const trees = inputMounts(session, read, { cell: reader, clusterID }).map(
      ({ volumeID, path, tree = path, at }): InputTree => ({
        ...{ volumeID, path: tree, clusterID, input, from: name, isCopied },
        ...(hasCells && at === given.path && { hasCells: true }),
      }),
    );
    return hasCells && isReadOften(plan, source.step)
      ? [...trees, ...listCells(session, { source, of: trees })]
      : trees;
  });
}

/** Whether readers of a step with `each` may have different directories of its cells, or single ones of them. */
function isReadOften({ steps }: Plan, step: number): boolean {
  if (steps[step]!.step.each === undefined) return false;
  return steps.flatMap(({ dependencies }) => dependencies.filter(({ on, data }) => on === step && data)).length > 1;
}

/**
 * The cells in a directory, as trees of their own: who reads one of them alone may change it before the directory is first
 * mounted, whose state is then not that of what was published.
 */
function listCells(
  session: RunSession,
  { source, of }: { readonly source: ReadSource; readonly of: readonly InputTree[] },
): InputTree[] {
  const [first] = of;
  if (first === undefined) return [];
  const { hasCells: _, ...directory } = first;
  const apart = new Set(of.map(({ path }) => path));
  const { step, output } = source;
  return succeededCells(session, source)
    .map((cell) => locateOutput(session, { step, cell, output }).path)
    .filter((path) => !apart.has(path))
    .map((path) => ({ ...directory, path }));
}

function isWritten({ plan }: RunSession, volume: string): boolean {
  const spec = own(plan.pipeline.volumes, volume);
  if (spec === undefined || spec.id !== undefined) return true;
  return plan.steps.some(({ step }) =>
    Object.values(step.inputs).some(
      (input) => 'volume' in input.from && input.from.volume === volume && writesToShared(input, plan.pipeline),
    ),
  );
}
