import { isServiceError, ServiceError, type VolumeFiles } from '@sluice/client';
import { MAX_TIME, sourcePath } from '@sluice/run';
import { z } from 'zod';

/** Another process or account may have written a mark. A file takes some 200 bytes of it. */
const MAX_BYTES = 256 * 2 ** 20;
const markSchema = z.object({
  usedAt: z.number().min(0).max(MAX_TIME).optional(),
  files: z.array(
    z.object({
      path: z.string(),
      size: z.number().int().min(0).max(Number.MAX_SAFE_INTEGER),
      sha256: z.string().regex(/^[0-9a-f]{64}$/),
    }),
  ),
});
type SourceMark = z.infer<typeof markSchema>;

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

/**
 * When a source was last used, in milliseconds since the Unix epoch; undefined if it is incomplete. Throws `ServiceError`, also
 * if the mark is damaged.
 */
export async function readSourceMark(files: VolumeFiles, mark: string): Promise<number | undefined> {
  const content = await readMark(files, mark);
  return content === undefined ? undefined : (content.usedAt ?? 0);
}

/**
 * The files of an uploaded source as its mark lists them, by its directory of files; undefined if it was removed. Throws as
 * `readSourceMark`.
 */
export async function readSourceFiles(files: VolumeFiles, directory: string): Promise<SourceMark['files'] | undefined> {
  const [, digest = ''] = directory.split('/');
  return (await readMark(files, sourcePath(digest).mark))?.files;
}

async function readMark(files: VolumeFiles, mark: string): Promise<SourceMark | undefined> {
  const fault = (why: string, cause?: unknown) =>
    new ServiceError('INVALID_REPLY', `could not read ${mark}, the mark of an uploaded source: ${why}`, { cause });
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of await files.read(mark)) {
      size += chunk.length;
      if (size > MAX_BYTES) throw fault(`it has more than ${MAX_BYTES} bytes`);
      chunks.push(chunk);
    }
  } catch (error) {
    if (isServiceError(error, 'NOT_FOUND')) return undefined;
    throw error;
  }
  try {
    return markSchema.parse(JSON.parse(Buffer.concat(chunks).toString('utf8')));
  } catch (cause) {
    throw fault('it is damaged', cause);
  }
}
