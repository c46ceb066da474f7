import { readlink, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { End } from '../engine.ts';
import { signalName } from './signal-name.ts';

/** Who runs a container: written before its first instruction, and only once. */
export type Claim =
  | { readonly kind: 'process'; readonly pid: number; readonly startTicks: string; readonly bootID: string }
  /** The engine itself claimed it, so that nobody can start it any more. */
  | { readonly kind: 'absent' };

/** How a container ended, as its first process wrote it down. */
export interface ExitRecord {
  readonly startedAt: number | undefined;
  readonly endedAt: number;
  readonly end: End;
}

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

/** Makes it impossible that the container still starts; false when somebody has claimed it before. */
export async function claimAbsent(directory: string): Promise<boolean> {
  try {
    await symlink('absent', join(directory, 'claim'));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
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

/** Throws on anything that the launcher does not write. */
export function parseExitRecord(text: string): ExitRecord {
  const [kind, ...fields] = text.split(' ');
  if (kind === 'exited' && fields.length === 5) {
    const [exitCode, signal, outOfMemory, startedAt, endedAt] = fields.map(Number) as [
      number,
      number,
      number,
      number,
      number,
    ];
    return { startedAt, endedAt, end: exitedEnd({ exitCode, signal, outOfMemory: outOfMemory === 1 }) };
  }
  if (kind === 'stopped' && fields.length === 2) {
    return { startedAt: Number(fields[0]), endedAt: Number(fields[1]), end: { kind: 'stopped' } };
  }
  if ((kind === 'refused' || kind === 'fault') && fields.length > 1) {
    const reason = fields.slice(1).join(' ');
    return { startedAt: undefined, endedAt: Number(fields[0]), end: { kind, reason } };
  }
  throw new Error(`could not read the exit record '${text}'`);
}

function exitedEnd(from: { exitCode: number; signal: number; outOfMemory: boolean }): End {
  return {
    kind: 'exited',
    exitCode: from.exitCode,
    ...(from.signal > 0 && { signal: signalName(from.signal) }),
    ...(from.outOfMemory && { outOfMemory: true }),
  };
}

async function readRecord(directory: string, name: 'claim' | 'exit'): Promise<string | undefined> {
  try {
    return await readlink(join(directory, name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
