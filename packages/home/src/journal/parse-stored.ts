import { SluiceError } from '@sluice/core';
import type { z } from 'zod';

/** A file of a home, and what the user does if it is damaged. */
interface StoredFile<T> {
  readonly file: string;
  readonly schema: z.ZodType<T>;
  readonly advice: string;
}

/** The content of a file of a home. If it is damaged, throws an error that names the file and says what to do. */
export function parseStored<T>(bytes: Uint8Array, { file, schema, advice }: StoredFile<T>): T {
  try {
    return schema.parse(JSON.parse(Buffer.from(bytes).toString('utf8')));
  } catch (cause) {
    throw new SluiceError('HOME_UNUSABLE', `could not read ${file}: it is damaged; ${advice}`, { cause });
  }
}
