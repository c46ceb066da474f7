import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { type VolumeService, volumeServiceSchema } from '@sluice/client';
import type { HomePlace } from '@sluice/home';
import { z } from 'zod';

const homeSchema = z.object({
  format: z.literal(1),
  /** Random: distinguishes the volumes of two homes that use one account. */
  homeId: z.string(),
});

const workspaceSchema = z.object({
  format: z.literal(1),
  /** `<cluster>/<account>/<pipeline>`. */
  key: z.string(),
  volumeID: z.string(),
  /** The key's volumes are numbered from 1, in the order in which they were requested. */
  number: z.number(),
  /** Undefined until the reply with the login arrives. The service sends it only once. */
  login: volumeServiceSchema.optional(),
});

/** A workspace volume that this home has created. */
export type WorkspaceRecord = z.infer<typeof workspaceSchema>;

/** A random ID that is part of the names of this home's volumes; created at the first call. */
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

/** Records a volume before it is requested. False: another process has recorded it. */
export function claimWorkspace({ disk, home }: HomePlace, claimed: Omit<WorkspaceRecord, 'format'>): Promise<boolean> {
  return disk.create(workspacePath(home, claimed.volumeID), encode({ format: 1, ...claimed }));
}

/**
 * Stores the login of a volume that this process has claimed. Each volume has its own file, which only the process that
 * created the volume writes: hosts that share a home without working locks do not overwrite each other's logins.
 */
export function storeLogin(
  { disk, home }: HomePlace,
  claimed: Omit<WorkspaceRecord, 'format' | 'login'>,
  login: VolumeService,
): Promise<void> {
  return disk.replace(workspacePath(home, claimed.volumeID), encode({ format: 1, ...claimed, login }));
}

/** The login of a workspace; undefined if this home does not have it. */
export async function findLogin({ disk, home }: HomePlace, volumeID: string): Promise<VolumeService | undefined> {
  const bytes = await disk.read(workspacePath(home, volumeID));
  return bytes && workspaceSchema.parse(decode(bytes)).login;
}

/** Logins are the only secrets in a home; only its owner can read them. */
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
