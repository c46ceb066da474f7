import { createHash } from 'node:crypto';
import { readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { own } from '@sluice/core';
import { replaceFile } from '@sluice/host-system';
import { z } from 'zod';
import { findCaller, isOwnedBy } from './caller.ts';
import { identifyDirectory } from './created-here.ts';
import type { Connection } from './profile.ts';
import { findUserDirectories } from './user-directories.ts';

const schema = z.object({ home: z.string(), identity: z.string(), connection: z.record(z.string(), z.string()) });

/** What a user has confirmed for one directory: its identity, and the connection settings of its profile. */
export type Confirmation = z.infer<typeof schema>;

/**
 * The confirmation by the user of `env`; undefined if the directory was not confirmed at this path, or was replaced
 * since.
 */
export function readConfirmation(home: string, env: NodeJS.ProcessEnv): Confirmation | undefined {
  try {
    const file = confirmationFile(home, env);
    if (file === undefined) return undefined;
    // If HOME is writable by others, the file may belong to another user.
    const caller = findCaller(env);
    if (caller !== undefined && !isOwnedBy(caller, statSync(file).uid)) return undefined;
    const kept = schema.parse(JSON.parse(readFileSync(file, 'utf8')));
    return kept.home === resolveLocation(home) && kept.identity === identify(home) ? kept : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Saves a confirmation in the user's own directory, never in the home. Returns the path; undefined if the user has no
 * such directory.
 */
export async function keepConfirmation(
  { home, connection }: { home: string; connection: Connection },
  env: NodeJS.ProcessEnv,
): Promise<string | undefined> {
  const file = confirmationFile(home, env);
  if (file === undefined) return undefined;
  const text = JSON.stringify({ home: resolveLocation(home), identity: identify(home), connection });
  await replaceFile(file, `${text}\n`);
  return file;
}

/** The keys whose value in the profile differs from the confirmed value, sorted. */
export function listUnconfirmed(connection: Connection, confirmed: Confirmation['connection'] = {}): string[] {
  const keys = new Set([...Object.keys(connection), ...Object.keys(confirmed)]);
  return [...keys].sort().filter((key) => own(connection, key) !== own(confirmed, key));
}

function confirmationFile(home: string, env: NodeJS.ProcessEnv): string | undefined {
  const trusted = findUserDirectories(env)?.trusted;
  if (trusted === undefined) return undefined;
  return join(trusted, `${createHash('sha256').update(resolveLocation(home)).digest('hex')}.json`);
}

/**
 * The real path of the parent and the name of the home. The home itself may be a link, which is then part of what is
 * confirmed.
 */
function resolveLocation(home: string): string {
  return join(realpathSync(dirname(home)), basename(home));
}

function identify(home: string): string {
  return identifyDirectory(statSync(home, { bigint: true }));
}
