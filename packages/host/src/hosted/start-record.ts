import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { RECEIVED_FILE } from '@sluice/home';
import { isSystemError } from '@sluice/host-system';
import type { z } from 'zod';
import { rerunRequest, startBody } from '../schemas/hand-over.ts';

const recordSchema = startBody.pick({ files: true }).extend({ rerun: rerunRequest.exactOptional() });

/** The request that has started a run on this server: the same request again starts nothing. */
export type StartRecord = z.infer<typeof recordSchema>;

/** Undefined: there is no run, or no request has started it. */
export async function readStart(directory: string): Promise<StartRecord | undefined> {
  try {
    return recordSchema.parse(JSON.parse(await readFile(join(directory, RECEIVED_FILE), 'utf8')));
  } catch (error) {
    if (isSystemError(error, 'ENOENT', 'ENOTDIR')) return undefined;
    throw error;
  }
}

/** Whether two requests start the same run with the same content. */
export function isSameStart(one: StartRecord, other: StartRecord): boolean {
  return isDeepStrictEqual(one.files, other.files);
}
