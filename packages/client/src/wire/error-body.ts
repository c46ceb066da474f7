import { z } from 'zod';

/** Error body of our service, flat because published clients read `code` and `message` at the top level. */
export const errorBodySchema = z.looseObject({
  code: z.number(),
  status: z.string().optional(),
  message: z.string(),
  details: z.array(z.looseObject({ reason: z.string().optional() })).optional(),
});
export type ErrorBody = z.infer<typeof errorBodySchema>;
