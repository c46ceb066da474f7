import { readlink, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { isSystemError } from '@sluice/host-system';
import { type ExitRecord, parseExitRecord } from '../exit-record.ts';

/** Who runs a container: written before its first instruction, and only once. */
export type Claim =
  | { readonly kind: 'process'; readonly pid: number; readonly startTicks: string; readonly bootID: string }
  /** The engine itself claimed it, so that it can no longer be started. */
  | { readonly kind: 'absent' };

/**
 * Records are symbolic links without a target: symlink(2) makes name and content in one step, and fails where the name
 * exists. There is no torn record and no second writer.
 */
export async function readClaim(directory: string): Promise<Claim | undefined> {
  const text = await readRecord(directory, 'claim');
  if (text === undefined) return undefined;
  if (text === 'absent') return { kind: 'absent' };
  const [pid, startTicks, bootID] = text.split(' ');
  if (pid === undefined || startTicks === undefined || bootID === undefined) {
    throw new Error(`could not read the claim in '${directory}': '${text}' is not <pid> <start ticks> <boot id>`);
  }
  return { kind: 'process', pid: Number(pid), startTicks, bootID };
}

/** The ID of the process that runs it, in this boot of the machine. */
export async function readClaimant(directory: string, bootID: string): Promise<number | undefined> {
  const claim = await readClaim(directory);
  return claim?.kind === 'process' && claim.bootID === bootID ? claim.pid : undefined;
}

/** Makes it impossible that the container still starts; false when it is claimed already. */
export async function claimAbsent(directory: string): Promise<boolean> {
  try {
    await symlink('absent', join(directory, 'claim'));
    return true;
  } catch (error) {
    if (isSystemError(error, 'EEXIST')) return false;
    throw error;
  }
}

/** Lets a container start that was said to be absent; false where a process has claimed it. */
export async function withdrawAbsent(directory: string): Promise<boolean> {
  const claim = await readClaim(directory);
  if (claim?.kind === 'process') return false;
  await rm(join(directory, 'claim'), { force: true });
  return true;
}

export async function readExitRecord(directory: string): Promise<ExitRecord | undefined> {
  const text = await readRecord(directory, 'exit');
  return text === undefined ? undefined : parseExitRecord(text);
}

async function readRecord(directory: string, name: 'claim' | 'exit'): Promise<string | undefined> {
  try {
    return await readlink(join(directory, name));
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return undefined;
    throw error;
  }
}
