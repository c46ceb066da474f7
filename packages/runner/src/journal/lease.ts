import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import path from 'node:path';
import { z } from 'zod';
import type { Disk } from './disk.ts';

const leaseSchema = z.object({
  epoch: z.number().int().positive(),
  host: z.string(),
  pid: z.number(),
  at: z.number(),
  /** Proves to the runner that who talks to it may read the run's directory. */
  control: z.string(),
});

/** Who opened a run last. The file is readable by its owner only. */
export type Lease = z.infer<typeof leaseSchema>;

/** The newest opening of a run's journal; undefined before the first. */
export async function readLease(disk: Disk, directory: string): Promise<Lease | undefined> {
  const bytes = await disk.read(leasePath(directory));
  return bytes && parseLease(bytes);
}

/** Whether the journal in a directory has ever been opened. */
export function wasOpened(disk: Disk, directory: string): boolean {
  return disk.readNow(leasePath(directory)) !== undefined;
}

/** Makes this process the newest opener: an older runner that still lives stops before its next commit. */
export async function takeLease(disk: Disk, directory: string, now: { at: number; epoch: number }): Promise<Lease> {
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

/** Whether `lease` is still the newest. A file that is not there, or is no lease, says no; throws Node's own errors. */
export function holdsLease(disk: Disk, directory: string, lease: Lease): boolean {
  const bytes = disk.readNow(leasePath(directory));
  return bytes !== undefined && parseLease(bytes)?.control === lease.control;
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
