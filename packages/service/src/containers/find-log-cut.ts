import type { LogCut } from '@sluice/client';
import { CUT_LINE_BYTES, cutStart, cutsSettled, MOST_END_BYTES, parseCut } from '../engines/limit-log.ts';
import { readBlock } from './read-block.ts';
import type { LogPlace } from './read-log.ts';

/**
 * The last cut of a log to its limit, as the log itself says: it is known after a restart of the service, too. Undefined if
 * it was not cut, or under another limit. Logs that commands append to are cut in the middle; the others have a place for the
 * end.
 */
export async function findLogCut(place: LogPlace, limitBytes: number): Promise<LogCut | undefined> {
  await cutsSettled(place.path);
  for (const start of [cutStart(limitBytes), limitBytes - MOST_END_BYTES]) {
    const bytes = await readBlock(place, start, Buffer.alloc(CUT_LINE_BYTES));
    if (bytes === undefined || bytes.length === 0) return undefined;
    const cut = parseCut(bytes);
    if (cut !== undefined) return { start: start + cut.offset, id: String(cut.leftOut) };
  }
  return undefined;
}
