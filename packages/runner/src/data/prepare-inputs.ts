import { backoffDelay, isServiceError } from '@sluice/client';
import { manifestPath } from '../record/layout.ts';
import { findCommonOrigin, isFannedOut } from '../record/locate-output.ts';
import { stepIndex } from '../record/step-context.ts';
import { CALL_BACKOFF, pause, type RunSession } from '../session/run-session.ts';
import { createManifest, renderManifest } from './create-manifest.ts';
import type { WorkspaceFiles } from './prepare-volumes.ts';
import { createTransfers } from './transfers.ts';

/**
 * Makes ready what a step's containers mount on a cluster, once for each; undefined where nothing is to be done. A fan-in finds the
 * manifest of its cells: written when all of them are over, before the first dependent starts.
 */
export function createInputPreparation(
  session: RunSession,
  workspace: WorkspaceFiles,
): (step: number, clusterID: string) => Promise<string | undefined> | undefined {
  const transfer = createTransfers(session, workspace);
  const written = new Map<string, Promise<undefined>>();

  function prepare(step: number, clusterID: string): Promise<string | undefined> | undefined {
    const brought = transfer(step, clusterID);
    const open: Promise<string | undefined>[] = brought ? [brought] : [];
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
        // Where all cells are reused, the manifest of the run that made them says the same; it may be missing if
        // nothing there read it.
        if (runId !== session.runId && (await files.stat(path))) return;
        await files.write(path, Buffer.from(renderManifest(manifest)));
      });
      return undefined;
    } catch (error) {
      if (!isServiceError(error)) throw error;
      const message = `could not write the manifest of ${manifest.step}.${of.output}: ${error.message}`;
      session.report({ type: 'warning', at: session.clock.now(), message });
      await pause(session, error.retryAfterMs ?? backoffDelay(CALL_BACKOFF, tries));
    }
  }
}
