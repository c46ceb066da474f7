import type { LogCut } from '@sluice/client';
import { CUT_LINE_BYTES, cutStart, cutsSettled, parseCutLine } from '../engines/limit-log.ts';
import { readBlock } from './read-block.ts';
import type { LogPlace } from './read-log.ts';

/**
 * The last cut of a log to its limit, as the log itself says: it is known after a restart of the service, too. Undefined if
 * it was not cut, or under another limit.
 */
export async function findLogCut(place: LogPlace, limitBytes: number): Promise<LogCut | undefined> {
  const start = cutStart(limitBytes);
  await cutsSettled(place.path);
  const bytes = await readBlock(place, start, Buffer.alloc(CUT_LINE_BYTES));
  const line = bytes && parseCutLine(bytes);
  return line && { start, id: String(line.leftOut) };
}
