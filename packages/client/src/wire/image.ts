import { z } from 'zod';

/** Reply of the extension `images`. Without `digest`, the engine cannot determine it. */
export const resolvedImageSchema = z.looseObject({ digest: z.string().optional() });

/** An image that the engine could resolve. */
export interface ResolvedImage {
  /** Digest of the content, such as `sha256:…`: equal digests run the same files. */
  readonly digest: string;
}
