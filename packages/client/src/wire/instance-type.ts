import { z } from 'zod';

/** Resource kind and amount that a container may ask for (protocol, "InstanceType"). */
export const instanceTypeSchema = z.looseObject({
  id: z.string(),
  clusterID: z.string(),
  cpu: z.looseObject({ cores: z.number(), model: z.string().optional() }),
  memory: z.looseObject({ sizeGB: z.number() }),
  gpu: z.looseObject({ count: z.number(), model: z.string().optional() }).optional(),
});
export type InstanceType = z.infer<typeof instanceTypeSchema>;

/** Reply of endpoint 2. */
export const instanceTypeListSchema = z.looseObject({ instanceTypes: z.array(instanceTypeSchema) });
