import { closeSync, openSync, readSync } from 'node:fs';
import { endianness } from 'node:os';

/** Far more than usual; reading more would block the service. */
const MAX_TABLE_BYTES = 2 * 1024 * 1024;
const LISTENING = '0A';
const TABLES = ['/proc/self/net/tcp', '/proc/self/net/tcp6'];

/**
 * Addresses that a connection to 127.0.0.1 reaches, as the kernel prints them: that address and the wildcard, for IPv4 and
 * IPv6.
 */
const LOOPBACK = endianness() === 'LE' ? '0100007F' : '7F000001';
const MAPPED = `${'0'.repeat(16)}${endianness() === 'LE' ? 'FFFF0000' : '0000FFFF'}`;
const REACHED = new Set(['0'.repeat(8), LOOPBACK, '0'.repeat(32), MAPPED + '0'.repeat(8), MAPPED + LOOPBACK]);

/**
 * The inodes of the sockets that accept connections to 127.0.0.1:`port`, in ascending order. Throws if the kernel's table
 * cannot be read or is too long.
 */
export function readListeners(port: number): number[] {
  const found = TABLES.flatMap((path) => findListeners(readListening(path), port));
  return [...new Set(found)].sort((a, b) => a - b);
}

/** Finds them in the text of one table. */
export function findListeners(table: string, port: number): number[] {
  const wanted = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return table.split('\n').flatMap((line) => {
    if (!line.includes(wanted)) return [];
    const [, local = '', , state, , , , , , inode] = line.trim().split(/\s+/);
    const isReached = local.endsWith(wanted) && REACHED.has(local.slice(0, -wanted.length));
    return isReached && state === LISTENING ? [Number(inode)] : [];
  });
}

/** Reads only the listening sockets, which the kernel prints first: the connections after them can be a hundred thousand. */
function readListening(path: string): string {
  const file = openSync(path, 'r');
  try {
    const buffer = Buffer.alloc(65_536);
    let text = '';
    for (;;) {
      const length = readSync(file, buffer);
      const part = buffer.toString('latin1', 0, length);
      text += part;
      if (length === 0 || hasOther(part)) return text;
      if (text.length > MAX_TABLE_BYTES) throw new Error(`could not read ${path}: too many sockets listen`);
    }
  } finally {
    closeSync(file);
  }
}

/** Whether a line describes a socket that does not listen. Each read of this file returns complete lines. */
function hasOther(text: string): boolean {
  return text.split('\n').some((line) => {
    const state = line.trim().split(/\s+/, 4)[3];
    return state !== undefined && state !== LISTENING && state !== 'st';
  });
}
