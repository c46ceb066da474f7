import { isServiceError } from '@sluice/client';
import { locateCells } from '../record/locate-output.ts';
import type { RunSession } from '../session/run-session.ts';
import type { WorkspaceFiles } from './prepare-volumes.ts';

/** Looked at in one run at most, and of each step: who writes nothing in one cell mostly writes nothing in all. */
const MOST_OUTPUTS = 100;
const CELLS_OF_STEP = 2;

/**
 * Warns of outputs to which nothing was written, at the end of a run and not after each step, which would cost each of
 * them a request. Undefined where there is nothing to look at. Outputs with `expect` have been looked at already, and reused ones in the run that made them.
 */
export function warnOfEmptyOutputs(session: RunSession, workspace: WorkspaceFiles): Promise<void> | undefined {
  const hasOutputs = session.plan.steps.some(({ step }) => Object.keys(step.outputs).length > 0);
  return hasOutputs ? lookAtOutputs(session, workspace) : undefined;
}

async function lookAtOutputs(session: RunSession, workspace: WorkspaceFiles): Promise<void> {
  const { plan, facts } = session;
  let left = MOST_OUTPUTS;
  for (const { step, index } of plan.steps) {
    for (const [output, { expect, path }] of Object.entries(step.outputs)) {
      if (expect !== undefined) continue;
      const own = locateCells(session, { step: index, output }).filter(
        ({ cell }) =>
          facts.known[index]?.[facts.cells[index]!.findIndex(({ key }) => key === cell)]?.winner !== undefined,
      );
      for (const { cell, clusterID, path: at } of own.slice(0, CELLS_OF_STEP)) {
        if (left-- === 0) return;
        if (!(await isEmpty(() => session.calls.add(() => workspace(clusterID).list(at))))) continue;
        const name = cell === '' ? step.name : `${step.name}/${cell}`;
        const message = `nothing was written to output ${output} of ${name} (${path}); set \`expect\` on it if it must not be empty`;
        session.report({ type: 'warning', at: session.clock.now(), message });
        break;
      }
    }
  }
}

async function isEmpty(list: () => Promise<readonly unknown[]>): Promise<boolean> {
  try {
    return (await list()).length === 0;
  } catch (error) {
    // A file, or a volume that does not answer: the end of a run does not wait for a warning.
    if (!isServiceError(error)) throw error;
    return false;
  }
}
