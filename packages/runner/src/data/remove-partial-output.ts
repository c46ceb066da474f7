import path from 'node:path';
import { isServiceError } from '@sluice/client';
import { attemptPath } from '../record/layout.ts';
import { clusterOfAttempt } from '../record/place-of.ts';
import { saysNoSpace } from '../report/find-space-hint.ts';
import type { Attempt } from '../session/attempt.ts';
import type { RunSession } from '../session/run-session.ts';
import { warn } from '../session/warn.ts';
import { measureVolume } from '../trees/measure-volume.ts';
import type { WorkspaceFiles } from './prepare-volumes.ts';

/** With less free space than this, the disk of the home counts as full. */
const SHORT_BYTES = 8 * 1024 * 1024;

/**
 * Removes what a failed or canceled attempt has written to its outputs, if that fills the disk of the home: the run would
 * wait for space that only its own output holds. The log of a program that found the disk full says so; of others, only a
 * large output is removed. Otherwise the output stays for the user to look at.
 */
export async function removePartialOutput(
  session: RunSession,
  workspace: WorkspaceFiles,
  { at, logTail }: { readonly at: Attempt['at']; readonly logTail: readonly string[] },
): Promise<void> {
  const { disk, home } = session;
  const { name, outputs, results } = session.plan.steps[at.step]!.step;
  // Without these, the run may have no workspace.
  if (Object.keys(outputs).length === 0 && Object.keys(results).length === 0) return;
  if ((await disk.free(home)) >= SHORT_BYTES) return;
  const cell = session.facts.cells[at.step]?.[at.cell]?.key ?? '';
  const place = attemptPath({ runId: session.runId, step: name, cell, attempt: at.attempt });
  const what = `the partial output of ${cell === '' ? name : `${name}/${cell}`}`;
  try {
    const files = workspace(clusterOfAttempt(session.facts, at));
    const bytes = await session.calls.add(() => measureVolume(files, place));
    if (bytes === 0 || (bytes < SHORT_BYTES && !saysNoSpace(logTail))) return;
    // An output on another machine takes no space here.
    if ((await disk.measure(path.join(home, 'service'))) < bytes) return;
    await session.calls.add(() => files.remove(place));
    warn(session, `removed ${what}: its ${bytes} bytes were on the disk of ${home}, which was full`);
  } catch (error) {
    if (!isServiceError(error)) throw error;
    if (error.code !== 'NOT_FOUND') warn(session, `could not remove ${what}: ${error.message}`);
  }
}
