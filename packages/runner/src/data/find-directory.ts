import { groupPath, nameInDirectory } from '@sluice/core';
import { gatheredPath, publishedPath, type ReadSource } from '@sluice/run';
import type { Attempt } from '../session/attempt.ts';
import type { RunSession } from '../session/run-session.ts';
import { findCommonOrigin } from './find-common-origin.ts';

/** An input that is a directory of cells, of one reading cell. */
export interface DirectoryOf {
  readonly input: string;
  readonly source: ReadSource;
  readonly cell: Pick<Attempt['name'], 'step' | 'cell'>;
}

/** A directory of cells. */
export interface CellDirectory {
  /** Below the workspace. It has the manifest, and those of the cells that were published in it. */
  readonly path: string;
  /** The path of a cell in it. */
  readonly names: (cell: number) => string;
}

/** Whether all cells are reused from one run whose directory of the step can be mounted instead of ours. */
export function isCommon(session: RunSession, { source }: DirectoryOf): boolean {
  return source.isWhole && findCommonOrigin(session, source.step) !== undefined;
}

/**
 * The directory that an input mounts: that of all cells, of this run or of the one from which all are reused; that of a
 * group of cells, if their outputs are nested by the axes of the group; otherwise one of its own, in which every cell is
 * mounted.
 */
export function findDirectory(session: RunSession, { input, source, cell }: DirectoryOf): CellDirectory {
  const { plan, facts, runId } = session;
  const { step, output, shared = [] } = source;
  const name = plan.steps[step]!.step.name;
  const cells = facts.cells[step] ?? [];
  const names = (index: number): string => nameInDirectory(plan, step, { cell: cells[index]!, shared });
  if (source.isWhole) {
    const common = findCommonOrigin(session, step);
    const of = common === undefined ? { runId, step: name } : { runId: common.runId, step: common.step };
    return { path: publishedPath({ ...of, output }), names };
  }
  const [first] = source.cells;
  const isGroup = first !== undefined && source.shared !== undefined;
  const group = isGroup ? groupPath(plan, step, { cell: cells[first]!, shared }) : undefined;
  if (group === undefined) return { path: gatheredPath({ runId, ...cell, input }), names };
  return { path: publishedPath({ runId, step: name, output, cell: group }), names };
}
