import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import path from 'node:path';
import { z } from 'zod';
import type { Disk } from './disk.ts';

/** The reply to a request with the secret of another lease: a process has taken the run since the lease was read. */
export const OTHER_LEASE = 'another process has taken the run; try again';

const leaseSchema = z.object({
  epoch: z.number().int().positive(),
  host: z.string(),
  pid: z.number(),
  at: z.number(),
  /** A secret in each request to the runner: it proves that the sender may read the run's directory. */
  control: z.string(),
});

/** The process that last opened a run's journal. Only the owner of the file can read it. */
export type Lease = z.infer<typeof leaseSchema>;

/** The newest lease of a run; undefined before the first. */
export async function readLease(disk: Disk, directory: string): Promise<Lease | undefined> {
  const bytes = await disk.read(leasePath(directory));
  return bytes && parseLease(bytes);
}

/** Whether the journal in a directory has ever been opened. */
export function wasOpened(disk: Disk, directory: string): boolean {
  return disk.readNow(leasePath(directory)) !== undefined;
}

/** Makes this process the newest holder: an older runner that still runs stops before its next commit. */
export async function acquireLease(disk: Disk, directory: string, now: { at: number; epoch: number }): Promise<Lease> {
  const previous = await readLease(disk, directory);
  const lease: Lease = {
    epoch: Math.max(previous?.epoch ?? 0, now.epoch) + 1,
    host: hostname(),
    pid: process.pid,
    at: now.at,
    control: randomBytes(16).toString('hex'),
  };
  await disk.replace(leasePath(directory), Buffer.from(`${JSON.stringify(lease)}\n`));
  return lease;
}

/** Whether `secret` is that of the newest lease. Throws Node's own errors. */
export function isLeaseSecret(disk: Disk, directory: string, secret: string): boolean {
  const bytes = disk.readNow(leasePath(directory));
  return bytes !== undefined && parseLease(bytes)?.control === secret;
}

/** Why the process with `lease` must leave the run; undefined if it is still the newest. Throws Node's own errors. */
export function findLeaseLoss(disk: Disk, directory: string, lease: Lease): string | undefined {
  const bytes = disk.readNow(leasePath(directory));
  if (bytes === undefined) return describeRemoved(directory);
  return parseLease(bytes)?.control === lease.control ? undefined : 'another runner has resumed the run';
}

function describeRemoved(directory: string): string {
  return `${directory} was removed, so the run cannot be continued; its containers keep running, and sluice adopt can rebuild the run from them`;
}

function leasePath(directory: string): string {
  return path.join(directory, 'lease.json');
}

function parseLease(bytes: Uint8Array): Lease | undefined {
  try {
    return leaseSchema.parse(JSON.parse(Buffer.from(bytes).toString('utf8')));
  } catch {
    return undefined;
  }
}
