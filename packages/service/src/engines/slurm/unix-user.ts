import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { EngineError } from '../engine.ts';

/** A user of this machine, with the same user ID on the nodes. */
export interface UnixUser {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
  readonly home: string;
}

/**
 * Looks a user up in the machine's sources (files, LDAP, …). Throws `EngineError` `UNAVAILABLE` if it does not exist or is
 * root.
 */
export async function findUnixUser(name: string): Promise<UnixUser> {
  const { stdout } = await promisify(execFile)('getent', ['passwd', '--', name]).catch(() => ({ stdout: '' }));
  const [found, , uid, gid, , home] = stdout.trim().split(':');
  if (found !== name || !uid || !gid || !home) {
    throw new EngineError(
      'UNAVAILABLE',
      `could not run jobs as the Unix user '${name}': this machine has no such user; create it, or correct 'unixUsers'`,
    );
  }
  if (uid === '0') {
    throw new EngineError(
      'UNAVAILABLE',
      `could not run jobs as '${name}': that is root; configure another user for the account`,
    );
  }
  return { name, uid: Number(uid), gid: Number(gid), home };
}

/** Throws `EngineError` `UNAVAILABLE` if this process may not act for other users. */
export function checkMaySwitch(): void {
  if (process.geteuid?.() === 0) return;
  throw new EngineError(
    'UNAVAILABLE',
    `could not run jobs as the users of 'unixUsers': only root may act for others, and the service runs as user ${process.geteuid?.()}; ` +
      `start it as root, or leave 'unixUsers' out`,
  );
}
