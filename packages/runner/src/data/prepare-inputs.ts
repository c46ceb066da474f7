import { backoffDelay, isServiceError } from '@sluice/client';
import { isFannedOut, manifestPath, stepIndex } from '@sluice/run';
import { CALL_BACKOFF, pause, type RunSession } from '../session/run-session.ts';
import { warn } from '../session/warn.ts';
import { createManifest, renderManifest } from './create-manifest.ts';
import { findCommonOrigin } from './find-common-origin.ts';
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
): (step: number, clusterID: string) => Promise<string | undefined> | undefined {
  const transfer = createTransfers(session, workspace);
  const written = new Map<string, Promise<undefined>>();

  function prepare(step: number, clusterID: string): Promise<string | undefined> | undefined {
    const transferred = transfer(step, clusterID);
    const open: Promise<string | undefined>[] = transferred ? [transferred] : [];
    for (const { from } of Object.values(session.plan.steps[step]!.step.inputs)) {
      if (!('step' in from)) continue;
      const producer = stepIndex(session.plan, from.step)!;
      if (!isFannedOut(session, producer)) continue;
      const key = `${clusterID}/${producer}/${from.output}`;
      let done = written.get(key);
      if (!done) {
        done = writeManifest(session, workspace, { producer, output: from.output, clusterID });
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
  of: { readonly producer: number; readonly output: string; readonly clusterID: string },
): Promise<undefined> {
  const manifest = createManifest(session, of.producer, of.output);
  const runId = findCommonOrigin(session, of.producer)?.runId ?? session.runId;
  const path = manifestPath({ runId, step: manifest.step, output: of.output });
  for (let tries = 1; ; tries++) {
    try {
      await session.calls.add(async () => {
        const files = workspace(of.clusterID);
        // If all cells are reused, the manifest of the original run is the same; it is absent if no step of that run read it.
        if (runId !== session.runId && (await files.stat(path))) return;
        await files.write(path, Buffer.from(renderManifest(manifest)));
      });
      return undefined;
    } catch (error) {
      if (!isServiceError(error)) throw error;
      const message = `could not write the manifest of ${manifest.step}.${of.output}: ${error.message}`;
      warn(session, message);
      await pause(session, error.retryAfterMs ?? backoffDelay(CALL_BACKOFF, tries));
    }
  }
}
