import { z } from 'zod';

/** An image with the steps that use it. `digest` is absent if it is unknown. */
export const imageSchema = z.strictObject({
  image: z.string(),
  digest: z.string().exactOptional(),
  steps: z.array(z.string()).readonly(),
});
