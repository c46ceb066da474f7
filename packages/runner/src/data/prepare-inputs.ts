import { backoffDelay, isServiceError } from '@sluice/client';
import { MANIFEST, type ReadSource, readInputs, runPath } from '@sluice/run';
import type { Attempt } from '../session/attempt.ts';
import { CALL_BACKOFF, pause, type RunSession } from '../session/run-session.ts';
import { warn } from '../session/warn.ts';
import { createManifest, renderManifest } from './create-manifest.ts';
import { type CellDirectory, findDirectory } from './find-directory.ts';
import type { WorkspaceFiles } from './prepare-volumes.ts';
import { createTransfers } from './transfers.ts';

/**
 * Creates a function that transfers the inputs of a step to a cluster and writes the manifests of steps with cells, each
 * once, before the first dependent starts. It resolves to a message if an input cannot be transferred, and returns
 * undefined if there is nothing to do.
 */
export function createInputPreparation(
  session: RunSession,
  workspace: WorkspaceFiles,
): (attempt: Pick<Attempt, 'at' | 'name' | 'ref'>) => Promise<string | undefined> | undefined {
  const transfer = createTransfers(session, workspace);
  const written = new Map<string, Promise<undefined>>();

  function prepare({ at, name, ref }: Pick<Attempt, 'at' | 'name' | 'ref'>): Promise<string | undefined> | undefined {
    if (Object.keys(session.plan.steps[at.step]!.step.inputs).length === 0) return undefined;
    const { clusterID } = ref;
    const inputs = readInputs(session, at.step, at.cell);
    const transferred = transfer(inputs, clusterID);
    const open: Promise<string | undefined>[] = transferred ? [transferred] : [];
    for (const { name: input, source } of inputs) {
      if (source === undefined || source.isSingle) continue;
      const directory = findDirectory(session, { input, source, cell: name });
      const key = `${clusterID}/${directory.path}`;
      let done = written.get(key);
      if (!done) {
        done = writeManifest(session, workspace, { source, directory, clusterID });
        written.set(key, done);
      }
      open.push(done);
    }
    return open.length === 0
      ? undefined
      : Promise.all(open).then((faults) => faults.find((fault) => fault !== undefined));
  }
  return prepare;
}

async function writeManifest(
  session: RunSession,
  workspace: WorkspaceFiles,
  of: { readonly source: ReadSource; readonly directory: CellDirectory; readonly clusterID: string },
): Promise<undefined> {
  const { directory } = of;
  const manifest = createManifest(session, { ...of.source, pathOf: directory.names });
  const path = `${directory.path}/${MANIFEST}`;
  const isOfEarlierRun = !directory.path.startsWith(`${runPath(session.runId)}/`);
  for (let tries = 1; ; tries++) {
    try {
      await session.calls.add(async () => {
        const files = workspace(of.clusterID);
        // If all cells are reused, the manifest of the original run is the same; it is absent if no step of that run read it.
        if (isOfEarlierRun && (await files.stat(path))) return;
        await files.write(path, Buffer.from(renderManifest(manifest)));
      });
      return undefined;
    } catch (error) {
      if (!isServiceError(error)) throw error;
      const message = `could not write the manifest of ${manifest.step}.${manifest.output}: ${error.message}`;
      warn(session, message);
      await pause(session, error.retryAfterMs ?? backoffDelay(CALL_BACKOFF, tries));
    }
  }
}
