import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { isSystemError } from '@sluice/host-system';
import { readListeners } from './read-listeners.ts';

/** Which program listens on a container's port. */
export interface PortLook {
  /** `unknown`: this service has no permission to check, or does not see the container's processes. */
  readonly by: 'container' | 'another' | 'none' | 'unknown';
  /** Identifies the listening sockets: equal if and only if the same sockets listen. */
  readonly sockets: string;
}

/** Finds the program that listens on `port` of 127.0.0.1. */
export type PortOwner = (port: number) => Promise<PortLook>;

/** Attempts, since a listener may be passed between processes during the check. */
const LOOKS = 3;
const LOOK_AGAIN_MS = 10;
/**
 * How long the result of the kernel's table stays valid if the processes still hold the sockets: reading the table takes
 * milliseconds.
 */
const TABLE_MS = 1000;

/**
 * Creates a function that finds the program behind a port of a container on the machine's network, by the processes that
 * hold the listening sockets. `findProcess` returns a PID in the container's PID namespace. Reads of /proc are synchronous,
 * because they never wait for a disk; through the thread pool they took five times as long as the request.
 */
export function createPortOwner(findProcess: () => Promise<number | undefined>): PortOwner {
  let known: Identity | undefined;
  let last: { readonly port: number; readonly at: number; readonly look: PortLook } | undefined;
  let holders: readonly Holder[] = [];
  return async (port) => {
    // The kernel reuses process IDs and namespace numbers.
    const isSame = known !== undefined && isStill(known);
    const isRecent = last !== undefined && last.port === port && performance.now() - last.at < TABLE_MS;
    if (isSame && isRecent && last !== undefined && holders.every(holds)) return last.look;
    last = undefined;
    if (!isSame) known = identify(await findProcess());
    for (let tries = 1; ; tries++) {
      const at = performance.now();
      const inodes = readListeners(port);
      const sockets = inodes.join();
      if (inodes.length === 0) return { by: 'none', sockets };
      if (known === undefined) return { by: 'unknown', sockets };
      const found = findHolders(inodes, { namespace: known.namespace, first: holders });
      if (found.isComplete) {
        holders = found.holders;
        last = { port, at, look: { by: 'container', sockets } };
        return last.look;
      }
      if (tries === LOOKS) return { by: found.wasDenied ? 'unknown' : 'another', sockets };
      await pause(LOOK_AGAIN_MS);
    }
  };
}

interface Identity {
  readonly pid: number;
  readonly startTicks: string;
  readonly namespace: string;
}

function identify(pid: number | undefined): Identity | undefined {
  if (pid === undefined) return undefined;
  const namespace = containerNamespace(pid);
  const startTicks = startOf(pid);
  if (namespace === undefined || startTicks === undefined || namespace === namespaceOf('self')) return undefined;
  return { pid, startTicks, namespace };
}

function isStill({ pid, startTicks, namespace }: Identity): boolean {
  return startOf(pid) === startTicks && containerNamespace(pid) === namespace;
}

/** A container's first process may be unreadable for its user; its children are in the same namespace. */
function containerNamespace(pid: number): string | undefined {
  const own = namespaceOf(pid);
  if (own !== undefined) return own;
  const children = readOptional(() => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8'))?.trim() ?? '';
  for (const child of children.split(' ')) {
    const namespace = child === '' ? undefined : namespaceOf(Number(child));
    if (namespace !== undefined) return namespace;
  }
  return undefined;
}

function namespaceOf(pid: number | 'self'): string | undefined {
  return readOptional(() => readlinkSync(`/proc/${pid}/ns/pid`));
}

/** The start time; the preceding name may contain anything. */
function startOf(pid: number): string | undefined {
  const text = readOptional(() => readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? '';
  return text.slice(text.lastIndexOf(')') + 2).split(' ')[19];
}

/** A process of the container, and the descriptor of its socket. */
interface Holder {
  readonly pid: number;
  readonly fd: string;
  readonly socket: string;
}

function holds({ pid, fd, socket }: Holder): boolean {
  return readOptional(() => readlinkSync(`/proc/${pid}/fd/${fd}`)) === socket;
}

interface Found {
  readonly holders: readonly Holder[];
  readonly isComplete: boolean;
  /** The namespace contains processes that this service may not inspect. */
  readonly wasDenied: boolean;
}

function findHolders(
  inodes: readonly number[],
  { namespace, first }: { readonly namespace: string; readonly first: readonly Holder[] },
): Found {
  const missing = new Set(inodes.map((inode) => `socket:[${inode}]`));
  const holders: Holder[] = [];
  let wasDenied = false;
  const look = (pids: Iterable<number>) => {
    for (const pid of pids) {
      if (missing.size === 0) return;
      if (namespaceOf(pid) !== namespace) continue;
      const held = heldBy(pid, missing);
      if (held === undefined) wasDenied = true;
      for (const holder of held ?? []) if (missing.delete(holder.socket)) holders.push(holder);
    }
  };
  look(new Set(first.map(({ pid }) => pid)));
  if (missing.size > 0)
    look(
      readdirSync('/proc')
        .map(Number)
        .filter((pid) => pid > 0),
    );
  return { holders, isComplete: missing.size === 0, wasDenied };
}

/** Which of `sockets` the process holds; undefined without permission. */
function heldBy(pid: number, sockets: ReadonlySet<string>): Holder[] | undefined {
  try {
    const all = readdirSync(`/proc/${pid}/fd`).map((fd) => {
      return { pid, fd, socket: readOptional(() => readlinkSync(`/proc/${pid}/fd/${fd}`)) ?? '' };
    });
    return all.filter(({ socket }) => sockets.has(socket));
  } catch (error) {
    return isSystemError(error, 'EACCES', 'EPERM') ? undefined : [];
  }
}

/** Undefined if the process has ended or may not be inspected. */
function readOptional(read: () => string): string | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
