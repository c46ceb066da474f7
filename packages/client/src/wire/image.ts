import { z } from 'zod';

/** Reply of our endpoint `images`: what a container of this image would run now. No digest: the engine cannot tell. */
export const resolvedImageSchema = z.looseObject({ digest: z.string().optional() });

/** An image that the engine could resolve. */
export interface ResolvedImage {
  /** Of the content, such as `sha256:…`: equal digests run the same files. */
  readonly digest: string;
}
