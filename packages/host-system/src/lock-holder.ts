import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { readBootId } from './boot-id.ts';
import type { Mount } from './find-mount.ts';
import { isSystemError } from './system-error.ts';

/** The process that holds a lock, as described in its lock file. */
export interface LockHolder {
  readonly pid: number;
  readonly host: string;
  readonly boot: string;
  /** The namespace of `pid`; `''` if it is unknown. */
  readonly pidNamespace: string;
  /** Present if the lock is an abstract socket name: the network namespace of that name. */
  readonly net: string | undefined;
}

/** Undefined if the file is absent, empty or damaged. */
export function readLockHolder(file: string): LockHolder | undefined {
  try {
    const { pid, host, boot, pidNamespace, net } = JSON.parse(readFileSync(file, 'utf8')) as Partial<LockHolder>;
    if (pid === undefined || host === undefined || boot === undefined || pidNamespace === undefined) return undefined;
    return { pid, host, boot, pidNamespace, net };
  } catch {
    return undefined;
  }
}

/** A name, for messages, of the process that holds the lock of a file, as far as the file says it. */
export function nameLockHolder(file: string): string {
  const holder = readLockHolder(file);
  if (holder === undefined || hasEnded(holder)) return 'another process';
  const { pid, host } = holder;
  return host === hostname() ? `process ${pid}` : `process ${pid} on ${host}`;
}

/** Describes this process. `isNameTheLock`: it holds an abstract socket name instead of the kernel's lock. */
export function describeSelf({ isNameTheLock }: { readonly isNameTheLock: boolean }): LockHolder {
  return {
    pid: process.pid,
    host: hostname(),
    boot: readBootId() ?? '',
    pidNamespace: readNamespace('pid'),
    net: isNameTheLock ? readNamespace('net') : undefined,
  };
}

/** Whether a live process with this ID is visible here. It may be another process than the holder: IDs are reused. */
export function seemsAlive(holder: LockHolder): boolean {
  return holder.boot === readBootId() && holder.pidNamespace === readNamespace('pid') && !hasEnded(holder);
}

/** Whether the process has certainly ended. Starts no program, so it is cheap enough to check many locks. */
export function hasEnded({ pid, boot, pidNamespace }: LockHolder): boolean {
  if (boot === '' || boot !== readBootId()) return false;
  if (pidNamespace === '' || pidNamespace !== readNamespace('pid')) return false;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return isSystemError(error, 'ESRCH');
  }
}

/** Whether the process may be alive. A process of this host has ended if the host has rebooted since. */
export function mayLive(holder: LockHolder): boolean {
  return !hasEnded(holder) && (holder.host !== hostname() || holder.boot === (readBootId() ?? ''));
}

/**
 * Whether the kernel's lock of the file may not show the holder: it holds an abstract socket name, or it is on another
 * machine and the file system, given by `readMount`, shares files but no locks.
 */
export function mayBeUnseen({ net, boot }: LockHolder, readMount: () => Mount | undefined): boolean {
  return net !== undefined || (boot !== (readBootId() ?? '') && readMount()?.locksAreLocal === true);
}

/** Whether the holder and this process share abstract socket names. */
export function sharesNames({ boot, net }: LockHolder): boolean {
  return boot !== '' && boot === readBootId() && Boolean(net) && net === readNamespace('net');
}

function readNamespace(kind: 'pid' | 'net'): string {
  try {
    return readlinkSync(`/proc/self/ns/${kind}`);
  } catch {
    return '';
  }
}
