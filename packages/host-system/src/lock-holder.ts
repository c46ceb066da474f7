import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { readBootID } from './boot-id.ts';
import { isSystemError } from './system-error.ts';

/** The process that has a lock, as its lock file describes it. */
export interface LockHolder {
  readonly pid: number;
  readonly host: string;
  readonly boot: string;
  /** The namespace in which `pid` counts; undefined where an earlier version wrote the file. */
  readonly pidNamespace: string | undefined;
  /** Present where an abstract socket name is the lock: the network namespace that has the name. */
  readonly net: string | undefined;
}

/** Undefined where the file is absent, empty or damaged. */
export function readLockHolder(file: string): LockHolder | undefined {
  try {
    const { pid, host, boot, pidNamespace, net } = JSON.parse(readFileSync(file, 'utf8')) as Partial<LockHolder>;
    if (pid === undefined || host === undefined || boot === undefined) return undefined;
    return { pid, host, boot, pidNamespace, net };
  } catch {
    return undefined;
  }
}

/** This process. `isNameTheLock`: it holds an abstract socket name, and not the kernel's lock of the file. */
export function describeSelf({ isNameTheLock }: { readonly isNameTheLock: boolean }): LockHolder {
  return {
    pid: process.pid,
    host: hostname(),
    boot: readBootID() ?? '',
    pidNamespace: readNamespace('pid'),
    net: isNameTheLock ? readNamespace('net') : undefined,
  };
}

/** Whether a process of that number lives where this process can see it. It need not be the holder: numbers are used again. */
export function seemsAlive(holder: LockHolder): boolean {
  return holder.boot === readBootID() && holder.pidNamespace === readNamespace('pid') && !hasEnded(holder);
}

/** Whether the process has certainly ended. It starts nothing, so that it may be asked about each of many locks. */
export function hasEnded({ pid, boot, pidNamespace }: LockHolder): boolean {
  if (boot === '' || boot !== readBootID()) return false;
  if (!pidNamespace || pidNamespace !== readNamespace('pid')) return false;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return isSystemError(error, 'ESRCH');
  }
}

/** Whether a process may live that no lock shows. One of this host has ended if the host has booted since. */
export function mayLive(holder: LockHolder): boolean {
  return !hasEnded(holder) && (holder.host !== hostname() || holder.boot === (readBootID() ?? ''));
}

/** Whether the abstract names of the holder are those that this process sees. */
export function sharesNames({ boot, net }: LockHolder): boolean {
  return boot !== '' && boot === readBootID() && Boolean(net) && net === readNamespace('net');
}

function readNamespace(kind: 'pid' | 'net'): string {
  try {
    return readlinkSync(`/proc/self/ns/${kind}`);
  } catch {
    return '';
  }
}
