import path from 'node:path';
import { isServiceError } from '@sluice/client';
import type { DiskAmount } from '@sluice/host-system';
import { attemptPath, clusterOfAttempt, saysNoSpace } from '@sluice/run';
import type { Attempt } from '../session/attempt.ts';
import type { RunSession } from '../session/run-session.ts';
import { warn } from '../session/warn.ts';
import { measureVolume } from '../trees/measure-volume.ts';
import type { WorkspaceFiles } from './prepare-volumes.ts';

/** With less of either free, the disk of the home counts as full. A service creates nothing with fewer than 1000 inodes. */
const SHORT: DiskAmount = { bytes: 8 * 1024 * 1024, inodes: 2000 };
/** An output with less is not worth removing, whatever its program says. */
const TRIFLE: DiskAmount = { bytes: 1, inodes: 64 };

const KINDS = ['bytes', 'inodes'] as const;

/**
 * Removes what a failed or canceled attempt has written to its outputs, if that fills the disk of the home: the run would
 * wait for space or inodes that only its own output holds. The log of a program that found the disk full says so; of
 * others, only a large output is removed. Otherwise the output stays for the user to look at.
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
  const free = await disk.free(home);
  const missing = KINDS.filter((kind) => free[kind] < SHORT[kind]);
  if (missing.length === 0) return;
  const cell = session.facts.cells[at.step]?.[at.cell]?.key ?? '';
  const place = attemptPath({ runId: session.runId, step: name, cell, attempt: at.attempt });
  const what = `the partial output of ${cell === '' ? name : `${name}/${cell}`}`;
  try {
    const files = workspace(clusterOfAttempt(session.facts, at));
    const output = await session.calls.add(() => measureVolume(files, place));
    const least = saysNoSpace(logTail) ? TRIFLE : SHORT;
    const kind = missing.find((kind) => output[kind] >= least[kind]);
    if (kind === undefined) return;
    // An output on another machine takes no space here.
    if ((await disk.measure(path.join(home, 'service')))[kind] < output[kind]) return;
    await session.calls.add(() => files.remove(place));
    const held =
      kind === 'bytes'
        ? `${output.bytes} bytes were on the disk of ${home}, which was full`
        : `${output.inodes} files and directories were on the disk of ${home}, which had too few inodes left`;
    warn(session, `removed ${what}: its ${held}`);
  } catch (error) {
    if (!isServiceError(error)) throw error;
    if (error.code !== 'NOT_FOUND') warn(session, `could not remove ${what}: ${error.message}`);
  }
}
