import { json } from '@sluice/run';
import { z } from 'zod';

/** A pipeline file of the home's project. */
export const pipelineEntry = z.strictObject({
  file: z.string().describe('absolute path on the machine of the server'),
  pipeline: z.string().exactOptional().describe('absent if the file has errors'),
  description: z.string().exactOptional(),
  message: z.string().exactOptional().describe('why it cannot be run'),
  params: z.array(
    z.strictObject({
      name: z.string(),
      type: z.string(),
      required: z.boolean(),
      default: json.exactOptional(),
      enum: z.array(json).exactOptional(),
      description: z.string().exactOptional(),
    }),
  ),
});

/** The reply of `GET /pipelines`. */
export const pipelineList = z.strictObject({
  pipelines: z.array(pipelineEntry),
  nextPageToken: z.string().exactOptional(),
});
