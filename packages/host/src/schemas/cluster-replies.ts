import { z } from 'zod';

/** The reply of `GET /clusters`. */
export const clusterList = z.strictObject({
  clusters: z.array(
    z.strictObject({
      clusterId: z.string(),
      accountId: z.string(),
      instanceTypes: z.array(
        z.strictObject({
          id: z.string(),
          cpu: z.number(),
          memoryGB: z.number(),
          gpu: z.number().exactOptional(),
        }),
      ),
      containers: z.record(z.string(), z.int()).describe('those of the account that have not ended, by phase'),
    }),
  ),
  message: z.string().exactOptional().describe('why the service could not be asked'),
  pools: z.array(
    z.strictObject({
      name: z.string(),
      size: z.number().exactOptional().describe('absent if no run in progress declares the pool'),
      used: z.number(),
      waiting: z.number().describe('slots that attempts wait for'),
    }),
  ),
});
