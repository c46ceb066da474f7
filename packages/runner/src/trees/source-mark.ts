import { isServiceError, type VolumeFiles } from '@sluice/client';
import { z } from 'zod';

const markSchema = z.object({ usedAt: z.number().optional() });

/** Name of the home's lock that is held while a source's mark is renewed, or the source is put aside. */
export const SOURCES_LOCK = 'sources';

/** Writes that a source is there whole, and when a run last wanted it. */
export async function writeSourceMark(
  files: VolumeFiles,
  mark: string,
  content: { readonly usedAt: number; readonly files: readonly object[] },
): Promise<void> {
  await files.write(mark, Buffer.from(JSON.stringify(content)));
}

/** When a source was last used, in milliseconds since the epoch; undefined where it is not there whole. */
export async function readSourceMark(files: VolumeFiles, mark: string): Promise<number | undefined> {
  try {
    const chunks: Uint8Array[] = [];
    for await (const chunk of await files.read(mark)) chunks.push(chunk);
    return markSchema.parse(JSON.parse(Buffer.concat(chunks).toString('utf8'))).usedAt ?? 0;
  } catch (error) {
    if (isServiceError(error, 'NOT_FOUND')) return undefined;
    throw error;
  }
}
