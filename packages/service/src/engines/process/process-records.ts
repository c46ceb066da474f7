import { readlink, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { isSystemError } from '@sluice/host-system';
import { type ExitRecord, parseExitRecord } from '../exit-record.ts';

/** Which process runs a container: written before its first instruction, and only once. */
export type Claim =
  | { readonly kind: 'process'; readonly pid: number; readonly startTicks: string; readonly bootId: string }
  /** The engine itself holds the claim, so that the container cannot be started. */
  | { readonly kind: 'absent' };

/**
 * Reads the claim; undefined if there is none. Records are symbolic links without a target: symlink(2) creates name and
 * content atomically and fails if the name exists, so there are no torn records and no second writer.
 */
export async function readClaim(directory: string): Promise<Claim | undefined> {
  const text = await readRecord(directory, 'claim');
  if (text === undefined) return undefined;
  if (text === 'absent') return { kind: 'absent' };
  const [pid, startTicks, bootId] = text.split(' ');
  if (pid === undefined || startTicks === undefined || bootId === undefined) {
    throw new Error(`could not read the claim in '${directory}': '${text}' is not <pid> <start ticks> <boot id>`);
  }
  return { kind: 'process', pid: Number(pid), startTicks, bootId };
}

/** The PID that the claim names, if it is from this boot of the machine. */
export async function readClaimant(directory: string, bootId: string): Promise<number | undefined> {
  const claim = await readClaim(directory);
  return claim?.kind === 'process' && claim.bootId === bootId ? claim.pid : undefined;
}

/** Prevents the container from starting; false if it is already claimed. */
export async function claimAbsent(directory: string): Promise<boolean> {
  try {
    await symlink('absent', join(directory, 'claim'));
    return true;
  } catch (error) {
    if (isSystemError(error, 'EEXIST')) return false;
    throw error;
  }
}

/** Reverts `claimAbsent`, so that the container can start; false if a process has claimed it. */
export async function withdrawAbsent(directory: string): Promise<boolean> {
  const claim = await readClaim(directory);
  if (claim?.kind === 'process') return false;
  await rm(join(directory, 'claim'), { force: true });
  return true;
}

/** Reads how the container ended; undefined if there is no record yet. Throws if the record is invalid. */
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
