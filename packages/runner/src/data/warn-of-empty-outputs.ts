import { isServiceError } from '@sluice/client';
import { cellsInOrder, locateCells } from '@sluice/run';
import type { RunSession } from '../session/run-session.ts';
import { warn } from '../session/warn.ts';
import type { WorkspaceFiles } from './prepare-volumes.ts';

/** The most outputs that are checked in one run, and in each step, since mostly all cells of a step or none write to an output. */
const MAX_OUTPUTS = 100;
const CELLS_OF_STEP = 2;

/**
 * Warns of outputs to which nothing was written. It checks at the end of the run, since a check after each step would
 * cost each of them a request. Outputs with `expect` and reused outputs were checked before; temporary ones are removed. Returns undefined if there
 * is nothing to check.
 */
export function warnOfEmptyOutputs(session: RunSession, workspace: WorkspaceFiles): Promise<void> | undefined {
  const hasOutputs = session.plan.steps.some(({ step }) => Object.keys(step.outputs).length > 0);
  return hasOutputs ? checkOutputs(session, workspace) : undefined;
}

async function checkOutputs(session: RunSession, workspace: WorkspaceFiles): Promise<void> {
  const { plan, facts } = session;
  let left = MAX_OUTPUTS;
  for (const { step, index } of plan.steps) {
    for (const [output, { expect, path, temporary }] of Object.entries(step.outputs)) {
      if (expect !== undefined || temporary) continue;
      const own = cellsInOrder(facts, index).filter((cell) => facts.known[index]?.[cell]?.winner !== undefined);
      const written = locateCells(session, { step: index, output, cells: own });
      for (const { cell, clusterID, path: at } of written.slice(0, CELLS_OF_STEP)) {
        if (left-- === 0) return;
        if (!(await isEmpty(() => session.calls.add(() => workspace(clusterID).list(at))))) continue;
        const name = cell === '' ? step.name : `${step.name}/${cell}`;
        const message = `nothing was written to output ${output} of ${name} (${path}); set \`expect\` on it if it must not be empty`;
        warn(session, message);
        break;
      }
    }
  }
}

async function isEmpty(list: () => Promise<readonly unknown[]>): Promise<boolean> {
  try {
    return (await list()).length === 0;
  } catch (error) {
    // It is a file, or the volume does not answer: a warning must not delay the end of the run.
    if (!isServiceError(error)) throw error;
    return false;
  }
}
