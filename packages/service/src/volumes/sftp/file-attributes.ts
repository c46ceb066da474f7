import type { Stats } from 'node:fs';
import { encodeFields, type Field, type PacketReader } from './sftp-packet.ts';

const SIZE = 0x1;
const OWNER = 0x2;
const PERMISSIONS = 0x4;
const TIMES = 0x8;
const EXTENDED = 0x8000_0000;

/** The attributes that a client wants to set; only those that it specified. Times are in seconds. */
export interface WantedAttributes {
  readonly size?: number;
  readonly mode?: number;
  readonly times?: { readonly accessed: number; readonly modified: number };
}

/** Reads the ATTRS of a packet. The owner is ignored: files belong to the user that the service runs as. */
export function readAttributes(reader: PacketReader): WantedAttributes {
  const flags = reader.u32();
  const size = (flags & SIZE) === 0 ? {} : { size: reader.u64() };
  if ((flags & OWNER) !== 0) {
    reader.u32();
    reader.u32();
  }
  const mode = (flags & PERMISSIONS) === 0 ? {} : { mode: reader.u32() & 0o777 };
  const times = (flags & TIMES) === 0 ? {} : { times: { accessed: reader.u32(), modified: reader.u32() } };
  if ((flags & EXTENDED) !== 0) {
    for (let left = reader.u32(); left > 0; left -= 1) {
      reader.bytes();
      reader.bytes();
    }
  }
  return { ...size, ...mode, ...times };
}

function attributeFields(stats: Stats): Field[] {
  const { uid, gid, mode, size, atimeMs, mtimeMs } = stats;
  const times = [Math.floor(atimeMs / 1_000), Math.floor(mtimeMs / 1_000)];
  return [SIZE | OWNER | PERMISSIONS | TIMES, BigInt(size), uid, gid, mode, ...times];
}

/** Encodes ATTRS, for a reply. */
export function encodeAttributes(stats: Stats): { readonly raw: Uint8Array } {
  return encodeFields(...attributeFields(stats));
}

/** Encodes an entry of a NAME packet, with a line as from `ls -l`, which version 3 clients display. */
export function encodeName(name: string, stats: Stats): { readonly raw: Uint8Array } {
  return encodeFields(name, longName(name, stats), ...attributeFields(stats));
}

/** Encodes an entry of a NAME packet with only the name. */
export function encodeBareName(name: string): { readonly raw: Uint8Array } {
  return encodeFields(name, name, 0);
}

function longName(name: string, stats: Stats): string {
  const kind = stats.isDirectory() ? 'd' : stats.isSymbolicLink() ? 'l' : '-';
  const bits = [...'rwxrwxrwx'].map((letter, index) => ((stats.mode >> (8 - index)) & 1 ? letter : '-')).join('');
  // File systems can store times outside of the range of Date.
  const date = Number.isNaN(stats.mtime.getTime()) ? '-' : stats.mtime.toISOString().slice(0, 16).replace('T', ' ');
  const size = String(stats.size).padStart(12);
  return `${kind}${bits} ${String(stats.nlink).padStart(3)} ${stats.uid} ${stats.gid} ${size} ${date} ${name}`;
}
