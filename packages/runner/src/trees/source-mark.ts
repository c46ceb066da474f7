import { isServiceError, type VolumeFiles } from '@sluice/client';
import { sourcePath } from '@sluice/run';
import { z } from 'zod';

const markSchema = z.object({ usedAt: z.number().optional() });
const listSchema = z.object({ files: z.array(z.object({ path: z.string(), size: z.number(), sha256: z.string() })) });

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
  const content = await readMark(files, mark);
  return content === undefined ? undefined : (markSchema.parse(content).usedAt ?? 0);
}

/** The files of an uploaded source as its mark lists them, by its directory of files; undefined if it was removed. */
export async function readSourceFiles(
  files: VolumeFiles,
  directory: string,
): Promise<z.infer<typeof listSchema>['files'] | undefined> {
  const [, digest = ''] = directory.split('/');
  const content = await readMark(files, sourcePath(digest).mark);
  return content === undefined ? undefined : listSchema.parse(content).files;
}

async function readMark(files: VolumeFiles, mark: string): Promise<unknown> {
  try {
    const chunks: Uint8Array[] = [];
    for await (const chunk of await files.read(mark)) chunks.push(chunk);
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch (error) {
    if (isServiceError(error, 'NOT_FOUND')) return undefined;
    throw error;
  }
}
