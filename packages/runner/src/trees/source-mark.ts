import { isServiceError, type VolumeFiles } from '@sluice/client';
import { z } from 'zod';

const markSchema = z.object({ usedAt: z.number().optional() });

/** The home's lock that is held while a source's mark is renewed, or while the source is removed. */
export const SOURCES_LOCK = 'sources';

/** Records that a source is complete, and when a run last used it. */
export async function writeSourceMark(
  files: VolumeFiles,
  mark: string,
  content: { readonly usedAt: number; readonly files: readonly object[] },
): Promise<void> {
  await files.write(mark, Buffer.from(JSON.stringify(content)));
}

/** When a source was last used, in milliseconds since the Unix epoch; undefined if it is incomplete. */
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
