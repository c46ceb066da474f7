import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { EngineError } from '../engine.ts';

/** A user of this machine, whom the nodes know under the same number. */
export interface UnixUser {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
  readonly home: string;
}

/** Looks users up where the machine does (files, LDAP, …). Throws `EngineError` for one that there is not, and for root. */
export async function findUnixUser(name: string): Promise<UnixUser> {
  const { stdout } = await promisify(execFile)('getent', ['passwd', '--', name]).catch(() => ({ stdout: '' }));
  const [found, , uid, gid, , home] = stdout.trim().split(':');
  if (found !== name || !uid || !gid || !home) {
    throw new EngineError(
      'UNAVAILABLE',
      `could not run jobs as the Unix user '${name}': this machine has no such user; make it, or correct 'unixUsers'`,
    );
  }
  if (uid === '0') {
    throw new EngineError(
      'UNAVAILABLE',
      `could not run jobs as '${name}': that is root; give the account a user of its own`,
    );
  }
  return { name, uid: Number(uid), gid: Number(gid), home };
}

/** Throws `EngineError` where this process may not act for others. */
export function checkMaySwitch(): void {
  if (process.geteuid?.() === 0) return;
  throw new EngineError(
    'UNAVAILABLE',
    `could not run jobs as the users of 'unixUsers': only root may act for others, and the service runs as user ${process.geteuid?.()}; ` +
      `start it as root, or leave 'unixUsers' out`,
  );
}
