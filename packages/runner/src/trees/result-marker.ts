import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';

/** Name of the file in a delivered directory that tells which run the directory belongs to. */
export const RESULT_MARKER = '.sluice-result.json';

const markerSchema = z.object({
  run: z.string(),
  pipeline: z.string(),
  output: z.string(),
  /** ISO 8601. */
  deliveredAt: z.string(),
  files: z.array(z.string()),
});

/** What a marker says. `files` are all files and links beside it, relative and `/`-separated. */
export type ResultMarker = z.infer<typeof markerSchema>;

export async function writeMarker(directory: string, marker: ResultMarker): Promise<void> {
  await writeFile(path.join(directory, RESULT_MARKER), `${JSON.stringify(marker, null, 1)}\n`, { flag: 'wx' });
}

/** Undefined where there is none, or none that can be read. */
export async function readMarker(directory: string): Promise<ResultMarker | undefined> {
  try {
    return markerSchema.parse(JSON.parse(await readFile(path.join(directory, RESULT_MARKER), 'utf8')));
  } catch {
    return undefined;
  }
}
