import { isUtf8 } from 'node:buffer';

/** Bytes 0x80 to 0xff that are not UTF-8 are represented as U+DC80 to U+DCFF, as in Python's `surrogateescape`. */
const ESCAPED = 0xdc00;
const LONE = /\p{Surrogate}/u;
/** Lone surrogates, control characters, and what changes the direction of text or separates lines. */
const UNPRINTABLE = /[\p{Surrogate}\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** A file name or path as text. Bytes that are not UTF-8 become lone surrogates, which `nameToBytes` converts back. */
export function bytesToName(bytes: Uint8Array): string {
  if (isUtf8(bytes)) return toText(bytes);
  let name = '';
  for (let at = 0; at < bytes.length; ) {
    const length = [1, 2, 3, 4].find((it) => at + it <= bytes.length && isUtf8(bytes.subarray(at, at + it)));
    name += length === undefined ? String.fromCharCode(ESCAPED + bytes[at]!) : toText(bytes.subarray(at, at + length));
    at += length ?? 1;
  }
  return name;
}

/** The bytes of a name from `bytesToName` or from a service. */
export function nameToBytes(name: string): Buffer {
  if (!LONE.test(name)) return Buffer.from(name);
  return Buffer.concat([...name].map((char) => escapedByte(char) ?? Buffer.from(char)));
}

/** The name or path for `node:fs`: a string if it is valid Unicode, else bytes. */
export function nameOnDisk(name: string): string | Buffer {
  return LONE.test(name) ? nameToBytes(name) : name;
}

/**
 * Whether `bytesToName` can return `name`: it contains no other surrogates, and no escaped bytes that are valid UTF-8.
 */
export function isByteName(name: string): boolean {
  return !LONE.test(name) || bytesToName(nameToBytes(name)) === name;
}

/** The bytes of a name, percent-encoded for a URL. */
export function encodeName(name: string): string {
  if (!LONE.test(name)) return encodeURIComponent(name);
  return [...name].map((char) => percent(escapedByte(char)) ?? encodeURIComponent(char)).join('');
}

/** The inverse of `encodeName`. Throws `URIError` for a percent sign without two hexadecimal digits. */
export function decodeName(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    // Not UTF-8 or not percent-encoded; both are handled below.
  }
  if (/%(?![0-9a-f]{2})/i.test(encoded)) throw new URIError('a percent sign without two hexadecimal digits');
  const parts = encoded
    .split(/(%[0-9a-f]{2})/i)
    .map((part, index) => (index % 2 === 1 ? Buffer.from(part.slice(1), 'hex') : Buffer.from(part)));
  return bytesToName(Buffer.concat(parts));
}

/**
 * The name for messages, on one line: bytes that are not UTF-8, and those of control characters and of characters that
 * change the direction of text, are written as `\xff`.
 */
export function printableName(name: string): string {
  return name.replace(UNPRINTABLE, (char) =>
    [...(escapedByte(char) ?? Buffer.from(char))].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join(''),
  );
}

function escapedByte(char: string): Buffer | undefined {
  const code = char.charCodeAt(0);
  return char.length === 1 && code >= 0xdc80 && code <= 0xdcff ? Buffer.from([code - ESCAPED]) : undefined;
}

function percent(byte: Buffer | undefined): string | undefined {
  return byte && `%${byte.toString('hex').toUpperCase()}`;
}

function toText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8');
}
