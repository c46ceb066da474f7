import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { isSystemError } from '@sluice/host-system';
import { readListeners } from './read-listeners.ts';

/** Who listens on a container's port now. */
export interface PortLook {
  /** `unknown`: this service may not look, or does not see the container's processes. */
  readonly by: 'container' | 'another' | 'none' | 'unknown';
  /** Stays the same exactly as long as the same sockets listen. */
  readonly sockets: string;
}

export type PortOwner = (port: number) => Promise<PortLook>;

/** A listener is handed from one process to another while we look. */
const LOOKS = 3;
const LOOK_AGAIN_MS = 10;
/** How long what the kernel's table said may be told by the processes alone: reading the table takes milliseconds. */
const TABLE_MS = 1000;

/**
 * Tells who listens on a port of a container whose network is that of the machine, by the processes that have the
 * listening sockets. `findProcess` gives the ID of a process in the container's own PID namespace. Reads of /proc wait for
 * no disk; by way of the thread pool they took five times as long as the request.
 */
export function createPortOwner(findProcess: () => Promise<number | undefined>): PortOwner {
  let known: Identity | undefined;
  let last: { readonly port: number; readonly at: number; readonly look: PortLook } | undefined;
  let holders: readonly Holder[] = [];
  return async (port) => {
    // The kernel gives away process IDs and namespace numbers again.
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

/** A container's first process may not let itself be looked at by others of its user; its children are in the same one. */
function containerNamespace(pid: number): string | undefined {
  const own = namespaceOf(pid);
  if (own !== undefined) return own;
  const children = lookup(() => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8'))?.trim() ?? '';
  for (const child of children.split(' ')) {
    const namespace = child === '' ? undefined : namespaceOf(Number(child));
    if (namespace !== undefined) return namespace;
  }
  return undefined;
}

function namespaceOf(pid: number | 'self'): string | undefined {
  return lookup(() => readlinkSync(`/proc/${pid}/ns/pid`));
}

/** When it started; the name before it may hold anything. */
function startOf(pid: number): string | undefined {
  const text = lookup(() => readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? '';
  return text.slice(text.lastIndexOf(')') + 2).split(' ')[19];
}

/** A process of the container, and the descriptor by which it has a socket. */
interface Holder {
  readonly pid: number;
  readonly fd: string;
  readonly socket: string;
}

function holds({ pid, fd, socket }: Holder): boolean {
  return lookup(() => readlinkSync(`/proc/${pid}/fd/${fd}`)) === socket;
}

interface Found {
  readonly holders: readonly Holder[];
  readonly isComplete: boolean;
  /** There are processes in the namespace into which we may not look. */
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

/** Which of `sockets` the process has; undefined where we may not look. */
function heldBy(pid: number, sockets: ReadonlySet<string>): Holder[] | undefined {
  try {
    const all = readdirSync(`/proc/${pid}/fd`).map((fd) => {
      return { pid, fd, socket: lookup(() => readlinkSync(`/proc/${pid}/fd/${fd}`)) ?? '' };
    });
    return all.filter(({ socket }) => sockets.has(socket));
  } catch (error) {
    return isSystemError(error, 'EACCES', 'EPERM') ? undefined : [];
  }
}

/** Undefined for what is gone, or not ours to see. */
function lookup(read: () => string): string | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
