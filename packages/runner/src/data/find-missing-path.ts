import { isServiceError } from '@sluice/client';
import { type Input, own } from '@sluice/core';
import { readInputs } from '@sluice/run';
import type { Attempt } from '../session/attempt.ts';
import type { RunSession } from '../session/run-session.ts';
import { inputMounts } from './create-mounts.ts';
import type { WorkspaceFiles } from './prepare-volumes.ts';

/**
 * Explains a container that the service rejected: the first input with a path that does not exist in its output or
 * volume. Undefined if all exist, or if the service cannot be asked.
 */
export async function findMissingPath(
  session: RunSession,
  { at, name: reader, ref }: Attempt,
  workspace: WorkspaceFiles,
): Promise<string | undefined> {
  for (const read of readInputs(session, at.step, at.cell)) {
    const { name, input } = read;
    const { from } = input;
    if (!from.path || isElsewhere(session, from)) continue;
    const [mount] = inputMounts(session, read, { cell: reader, clusterID: ref.clusterID });
    if (
      mount === undefined ||
      mount.create ||
      !(await isMissing(session, () => workspace(ref.clusterID).stat(mount.path)))
    )
      continue;
    const source = 'volume' in from ? `volume ${from.volume}` : `output ${from.output} of step ${from.step}`;
    return `could not mount input ${name}: ${source} has no file or directory ${from.path}`;
  }
  return undefined;
}

/** Volumes with an `id` are not in the workspace. */
function isElsewhere({ plan }: RunSession, from: Input['from']): boolean {
  return 'volume' in from && own(plan.pipeline.volumes, from.volume)?.id !== undefined;
}

async function isMissing(session: RunSession, stat: () => Promise<unknown>): Promise<boolean> {
  try {
    return (await session.calls.add(stat)) === undefined;
  } catch (error) {
    if (!isServiceError(error)) throw error;
    return false;
  }
}
