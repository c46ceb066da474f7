import { crc32 } from 'node:zlib';
import type { JournalLine } from '@sluice/run';

/** The beginning of every line. It cannot occur inside a line, where quotes are escaped. */
export const PREFIX = '{"crc":"';
const BODY_AT = PREFIX.length + 8 + 2;

/** One line of NDJSON with its line feed, to be written as UTF-8. The checksum covers everything after its own field. */
export function encodeLine(line: JournalLine): string {
  const body = JSON.stringify(line).slice(1);
  return `${PREFIX}${checksum(body)}",${body}\n`;
}

/** Reads one line, without its line feed. Undefined: the line is incomplete or damaged. */
export function decodeLine(bytes: Uint8Array): JournalLine | undefined {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < BODY_AT || text.toString('latin1', 0, PREFIX.length) !== PREFIX) return undefined;
  if (text.toString('latin1', PREFIX.length + 8, BODY_AT) !== '",') return undefined;
  if (text.toString('latin1', PREFIX.length, PREFIX.length + 8) !== checksum(bytes.subarray(BODY_AT))) return undefined;
  const line = parseText(text.toString('utf8'));
  return isLine(line) ? line : undefined;
}

function parseText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A correct checksum says only that the line was not damaged: another program may have written it. */
function isLine(value: unknown): value is JournalLine {
  if (typeof value !== 'object' || value === null) return false;
  const { seq, first, epoch, record } = value as Readonly<Record<keyof JournalLine, unknown>>;
  const isRecord = typeof record === 'object' && record !== null && 'kind' in record && typeof record.kind === 'string';
  return isRecord && [seq, first, epoch].every((one) => Number.isSafeInteger(one) && (one as number) >= 0);
}

function checksum(bytes: Uint8Array | string): string {
  return crc32(bytes).toString(16).padStart(8, '0');
}
