import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { type VolumeService, volumeServiceSchema } from '@sluice/client';
import { z } from 'zod';
import type { Clock } from '../clock.ts';
import type { Disk } from '../journal/disk.ts';

const homeSchema = z.object({
  format: z.literal(1),
  /** Random: keeps the volumes of two homes apart that use one account. */
  homeId: z.string(),
});

const workspaceSchema = z.object({
  format: z.literal(1),
  /** Cluster, account and pipeline. */
  key: z.string(),
  volumeID: z.string(),
  /** The key's volumes are numbered from 1, in the order in which they were asked for. */
  number: z.number(),
  /** Undefined while the reply that has it is awaited; it is given once only. */
  login: volumeServiceSchema.optional(),
});

/** A volume that this home has made to work in. */
export type WorkspaceRecord = z.infer<typeof workspaceSchema>;

export interface HomePlace {
  readonly disk: Disk;
  readonly clock: Clock;
  readonly home: string;
}

/** What the names of this home's volumes are made from; chosen when it is first asked for. */
export async function readHomeId({ disk, home }: HomePlace): Promise<string> {
  const file = path.join(directory(home), 'home.json');
  const bytes = encode({ format: 1, homeId: randomBytes(8).toString('hex') });
  const known = (await disk.read(file)) ?? ((await disk.create(file, bytes)) ? bytes : await disk.read(file));
  return homeSchema.parse(decode(known!)).homeId;
}

/** The volumes of this home, ordered by key and number. */
export async function listWorkspaces({ disk, home }: HomePlace): Promise<WorkspaceRecord[]> {
  const names = (await disk.list(directory(home))).filter((name) => name.startsWith('ws-') && name.endsWith('.json'));
  const found = await Promise.all(names.map((name) => disk.read(path.join(directory(home), name))));
  return found
    .flatMap((bytes) => (bytes ? [workspaceSchema.parse(decode(bytes))] : []))
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : a.number - b.number));
}

/** Writes down a volume before it is asked for. False: another process did so. */
export function claimWorkspace({ disk, home }: HomePlace, claimed: Omit<WorkspaceRecord, 'format'>): Promise<boolean> {
  return disk.create(workspacePath(home, claimed.volumeID), encode({ format: 1, ...claimed }));
}

/**
 * Keeps the login of a volume that this process has claimed. One file for each volume, which only its maker writes: two
 * hosts that share a home without working locks lose nothing of each other's.
 */
export function keepLogin(
  { disk, home }: HomePlace,
  claimed: Omit<WorkspaceRecord, 'format' | 'login'>,
  login: VolumeService,
): Promise<void> {
  return disk.replace(workspacePath(home, claimed.volumeID), encode({ format: 1, ...claimed, login }));
}

/** The login of a workspace that a run works in; undefined where this home does not have it. */
export async function findLogin({ disk, home }: HomePlace, volumeID: string): Promise<VolumeService | undefined> {
  const bytes = await disk.read(workspacePath(home, volumeID));
  return bytes && workspaceSchema.parse(decode(bytes)).login;
}

/** Logins are the only secrets that a home keeps; its owner alone can read them. */
function directory(home: string): string {
  return path.join(home, 'credentials');
}

function workspacePath(home: string, volumeID: string): string {
  return path.join(directory(home), `${volumeID}.json`);
}

function encode(value: unknown): Buffer {
  return Buffer.from(`${JSON.stringify(value, null, 2)}\n`);
}

function decode(bytes: Uint8Array): unknown {
  return JSON.parse(Buffer.from(bytes).toString('utf8'));
}
