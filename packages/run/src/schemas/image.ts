import { z } from 'zod';
import type { InMilliseconds } from './in-milliseconds.ts';

/** An image and the steps that use it. Fingerprints contain its digest, or its name if the digest is unknown. */
export const image = z.strictObject({
  image: z.string().describe('with its expressions if they can be evaluated only during the run'),
  digest: z.string().exactOptional().describe('absent if it is unknown'),
  steps: z.array(z.string()).readonly(),
});

/** An image and the steps that use it. */
export interface ImageUse extends InMilliseconds<z.infer<typeof image>> {}
