import path from 'node:path';
import { type JournalRecord, type RunOrder, runOrder } from '@sluice/run';
import type { Disk } from '../journal/disk.ts';
import { decodeLine } from '../journal/line-codec.ts';
import { journalPath } from '../journal/open-journal.ts';
import { createSystemDisk } from '../journal/system-disk.ts';
import { runDirectory } from './run-home.ts';

type Header = Extract<JournalRecord, { kind: 'run' }>;

const FIRST_BYTES = 1 << 18;
/** The record may contain the instance types of many clusters, and the durations of many steps. */
const MOST_BYTES = 1 << 26;
const NEWLINE = 10;

/**
 * The order that started a run. Reads the journal only up to the record of the start, so it costs the same for a run of any
 * size. Undefined if no order is recorded, or if that record cannot be read.
 */
export async function readRunOrder(
  home: string,
  runId: string,
  disk: Disk = createSystemDisk(),
): Promise<RunOrder | undefined> {
  const file = journalPath(runDirectory(path.resolve(home), runId));
  for (let length = FIRST_BYTES; length <= MOST_BYTES; length *= 4) {
    const bytes = await disk.readPart(file, { start: 0, length });
    const header = bytes && findHeader(bytes);
    if (header !== undefined) return runOrder.safeParse(header.order).data;
    if (bytes === undefined || bytes.length < length) return undefined;
  }
  return undefined;
}

/** In the first whole lines of a journal. */
function findHeader(bytes: Uint8Array): Header | undefined {
  for (let start = 0, end = bytes.indexOf(NEWLINE); end >= 0; start = end + 1, end = bytes.indexOf(NEWLINE, start)) {
    const record = decodeLine(bytes.subarray(start, end))?.record;
    if (record?.kind === 'run') return record;
  }
  return undefined;
}
