import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { RECEIVED_FILE } from '@sluice/home';
import { isSystemError } from '@sluice/host-system';
import { z } from 'zod';
import { type orderBody, rerunRequest } from '../schemas/order.ts';

const recordSchema = z.union([z.strictObject({ order: z.string() }), z.strictObject({ rerun: rerunRequest })]);

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

/** The record of an order. Secrets and logins are not part of what identifies it. */
export function recordOrder(body: z.output<typeof orderBody>): StartRecord {
  const { order, pipeline, sources, parts, files, workspace, reuse } = body;
  // Without the newer fields, the record is that of an earlier version.
  const newer = parts === undefined && files === undefined ? [] : [parts, files];
  const ordered = JSON.stringify([order, pipeline, sources, workspace?.volumeId, reuse, ...newer]);
  return { order: createHash('sha256').update(ordered).digest('hex') };
}
