import { z } from 'zod';

/** The error body of `sluice serve`, flat because published clients read `code` and `message` at the top level. */
export const errorBodySchema = z.looseObject({
  code: z.number(),
  status: z.string().optional(),
  message: z.string(),
  details: z.array(z.looseObject({ reason: z.string().optional() })).optional(),
});
/** The body of an error reply; `code` is the HTTP status, `status` the name of a `ServiceErrorCode`. */
export type ErrorBody = z.infer<typeof errorBodySchema>;
