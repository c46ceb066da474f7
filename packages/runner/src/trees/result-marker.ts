import { lstat, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';

/** The name of the file in a delivered directory that identifies the run and its files. */
export const RESULT_MARKER = '.sluice-result.json';

const markerSchema = z.object({
  runId: z.string(),
  pipeline: z.string(),
  output: z.string(),
  /** RFC 3339. */
  copiedAt: z.string(),
  files: z.array(z.string()),
});

/** The content of a marker. `files` are all other files and links of the directory, relative and `/`-separated. */
export type ResultMarker = z.infer<typeof markerSchema>;

/** Writes the marker of a directory that has none. Throws Node's own errors. */
export async function writeMarker(directory: string, marker: ResultMarker): Promise<void> {
  await writeFile(path.join(directory, RESULT_MARKER), `${JSON.stringify(marker, null, 1)}\n`, { flag: 'wx' });
}

/** Whether the directory is one that a run has published. */
export async function isResult(directory: string): Promise<boolean> {
  return (await lstat(path.join(directory, RESULT_MARKER)).catch(() => undefined)) !== undefined;
}

/** The marker of a directory; undefined if there is none, or if it is damaged. */
export async function readMarker(directory: string): Promise<ResultMarker | undefined> {
  try {
    return markerSchema.parse(JSON.parse(await readFile(path.join(directory, RESULT_MARKER), 'utf8')));
  } catch {
    return undefined;
  }
}
