import { backoffDelay, isServiceError } from '@sluice/client';
import { own } from '@sluice/core';
import { systemErrorCode } from '@sluice/host-system';
import { type OutputLocation, type OutputReport, reportOutputs, type StaleOutput } from '@sluice/run';
import { CALL_BACKOFF, pause, type RunSession } from '../session/run-session.ts';
import { warn } from '../session/warn.ts';
import type { TransferProgress } from '../trees/count-transfer.ts';
import { readMarker } from '../trees/result-marker.ts';
import { openTreeStates } from '../trees/tree-states.ts';
import { findManifest } from './create-manifest.ts';
import { deliverOutput } from './deliver-output.ts';
import { findPart } from './find-part.ts';
import { listPublished } from './list-published.ts';
import type { WorkspaceFiles } from './prepare-volumes.ts';
import { rejectChanged } from './reject-changed.ts';

/** The result of copying the outputs with `publish`, by output. */
export interface Delivery {
  /** Local directories with a complete copy. */
  readonly outputs: Readonly<Record<string, string>>;
  /** Messages about outputs that could not be copied; they remain in their volumes. */
  readonly undelivered: Readonly<Record<string, string>>;
  /** For outputs that this run has not produced: the directory, if it still has the output of another run. */
  readonly staleOutputs: Readonly<Record<string, StaleOutput>>;
}

/** Copies the pipeline's outputs with `publish` to their local directories. Problems are reported as warnings. */
export async function deliverOutputs(session: RunSession, workspace: WorkspaceFiles): Promise<Delivery> {
  const delivered: Record<string, string> = {};
  const undelivered: Record<string, string> = {};
  const staleOutputs: Record<string, StaleOutput> = {};
  const made = reportOutputs(session);
  for (const [name, directory] of Object.entries(listPublished(session.plan, session.facts.header!.baseDir))) {
    if (session.stopped) break;
    const output = own(made, name);
    if (output === undefined) {
      const marker = await readMarker(directory);
      if (marker) staleOutputs[name] = { directory, runId: marker.runId, copiedAt: marker.copiedAt };
      continue;
    }
    const failure = await deliverWithRetries(directory, { session, workspace, name, output });
    if (failure === undefined) delivered[name] = directory;
    else {
      const message = `could not copy output ${name} to ${directory}: ${failure}`;
      undelivered[name] = message;
      warn(session, message);
    }
  }
  return { outputs: delivered, undelivered, staleOutputs };
}

interface NamedOutput {
  readonly session: RunSession;
  readonly workspace: WorkspaceFiles;
  readonly name: string;
  readonly output: OutputReport;
}

/** A service that restarts replies again within the pauses between so many attempts. */
const ATTEMPTS = 5;

/** Returns a message if the output could not be copied. */
async function deliverWithRetries(directory: string, of: NamedOutput): Promise<string | undefined> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await deliverTo(directory, of);
    } catch (error) {
      if (!isServiceError(error) && systemErrorCode(error) === undefined) throw error;
      if (attempt >= ATTEMPTS || !isServiceError(error, 'NO_REPLY', 'UNAVAILABLE')) return (error as Error).message;
      await pause(of.session, backoffDelay(CALL_BACKOFF, attempt));
    }
  }
}

/** Returns a message if the output could not be copied. Throws `ServiceError`, or Node's own errors about local files. */
async function deliverTo(directory: string, of: NamedOutput): Promise<string | undefined> {
  const { session, workspace, name, output } = of;
  const published = { locations: output.locations, files: ({ clusterId }: OutputLocation) => workspace(clusterId) };
  await rejectChanged(openTreeStates(session), published);
  const whole = { ...published, manifest: findManifest(session, output) };
  const part = output.path === undefined ? undefined : await findPart(whole, output.path);
  if (part?.ok === false) return part.error;
  if (part?.value.kind === 'file') return `${output.path} is a file; publish the directory that contains it`;
  const done = await deliverOutput({
    ...(part?.value.output ?? whole),
    to: directory,
    owner: session.runId,
    marker: { runId: session.runId, pipeline: session.plan.pipeline.name, output: name },
    now: session.clock.now(),
    around: [session.facts.header!.baseDir, session.home],
    publishes: true,
    onProgress: reportTo(session, name),
  });
  if (!done.ok) return done.error;
  for (const warning of done.value) warn(session, `output ${name}: ${warning}`);
  return undefined;
}

function reportTo(session: RunSession, name: string): (progress: TransferProgress) => void {
  return (progress) =>
    session.report({ type: 'transfer', at: session.clock.now(), direction: 'download', name, ...progress });
}
