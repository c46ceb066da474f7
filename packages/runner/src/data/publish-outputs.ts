import { type ContainerService, isServiceError } from '@sluice/client';
import { fail, ok, type Result } from '@sluice/core';
import { systemErrorCode } from '@sluice/host-system';
import type { RunError } from '@sluice/run';
import { readMarker } from '../trees/result-marker.ts';
import { readPublishable } from './pull-output.ts';

/** An output with `publish`, and its local directory. */
export interface PublishedCopy {
  readonly output: string;
  /** Absolute. */
  readonly directory: string;
  /** Whether the directory had the output of this run already. */
  readonly isKnown: boolean;
  /** What was left out of the copy. */
  readonly warnings: readonly string[];
  /** Why the output could not be copied. */
  readonly problem?: string;
}

/**
 * Copies the outputs of a run that another machine has executed to the directories that its pipeline names, as the end of a
 * run does. The caller knows them: the journal is that of the other machine. What is there already is not copied again.
 */
export async function publishOutputs({
  home,
  runId,
  service,
  directories,
}: {
  readonly home: string;
  readonly runId: string;
  readonly service: ContainerService;
  /** Absolute, by the name of the output. */
  readonly directories: Readonly<Record<string, string>>;
}): Promise<Result<readonly PublishedCopy[], RunError>> {
  const outputs = await readPublishable(home, runId);
  if (!outputs.ok) return outputs;
  const copies: PublishedCopy[] = [];
  for (const [output, directory] of Object.entries(directories)) {
    // Its step was skipped or has failed.
    if (!outputs.value.names.includes(output)) continue;
    const marker = await readMarker(directory);
    const isKnown = marker?.runId === outputs.value.runId && marker.output === output;
    const done = isKnown ? ok([]) : await copy(() => outputs.value.publish(output, { service, to: directory }));
    const said = done.ok ? { warnings: done.value } : { warnings: [], problem: done.error };
    copies.push({ output, directory, isKnown, ...said });
  }
  return ok(copies);
}

async function copy(
  pull: () => Promise<Result<readonly string[], RunError>>,
): Promise<Result<readonly string[], string>> {
  try {
    const pulled = await pull();
    return pulled.ok ? pulled : fail(pulled.error.message);
  } catch (error) {
    if (!isServiceError(error) && systemErrorCode(error) === undefined) throw error;
    return fail((error as Error).message);
  }
}
