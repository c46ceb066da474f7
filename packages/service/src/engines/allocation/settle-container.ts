import type { End, Launch } from '../engine.ts';
import { readClaim, readExitRecord } from '../process/process-records.ts';
import { ALLOCATION_ENDED } from './allocation-ended.ts';
import { explainEnd } from './explain-end.ts';
import type { EndedObservation } from './spool-lines.ts';

/** As `settleContainer`, of many: those that were started, by their keys. */
export async function settleContainers(
  containers: readonly { readonly launch: Pick<Launch, 'key' | 'directory'>; readonly isStopped: boolean }[],
  end: End,
): Promise<Map<string, EndedObservation>> {
  const found = new Map<string, EndedObservation>();
  const now = Date.now();
  for (const { launch, isStopped } of containers) {
    const ended = await settleContainer(launch, { isStopped, end, now });
    if (ended !== undefined) found.set(launch.key, ended);
  }
  return found;
}

/**
 * How a container has ended whose agent cannot report it any more: its allocation has ended, as Slurm has confirmed.
 * Undefined if it was never started. Throws if its records cannot be read.
 */
export async function settleContainer(
  { directory }: Pick<Launch, 'directory'>,
  { isStopped, end, now }: { isStopped: boolean; end: End; now: number },
): Promise<EndedObservation | undefined> {
  const claim = await readClaim(directory);
  if (claim?.kind !== 'process') return undefined;
  if (isStopped) return { type: 'ended', endedAt: now, end: { kind: 'stopped' } };
  const record = await readExitRecord(directory);
  // Where Slurm has ended the job, a signal may have ended the command: repeating it loses time, believing it loses data.
  if (record !== undefined && end.kind === 'exited' && end.timedOut !== true)
    return { type: 'ended', endedAt: record.endedAt, end: await explainEnd(directory, record.end) };
  return { type: 'ended', endedAt: now, end: { kind: 'fault', reason: `${ALLOCATION_ENDED}: ${describeEnd(end)}` } };
}

/** Why an allocation has ended, for people. */
export function describeEnd(end: End): string {
  switch (end.kind) {
    case 'exited':
      return end.timedOut === true ? 'its time limit was reached' : `its agent ended with code ${end.exitCode}`;
    case 'stopped':
      return 'it was stopped';
    default:
      return end.reason;
  }
}
