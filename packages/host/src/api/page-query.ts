import { z } from 'zod';

/** The query parameter of a list for the length of its pages. */
export const pageSize: z.ZodDefault<z.ZodCoercedNumber> = z.coerce.number().int().min(1).max(1000).default(100);

/** The query parameter of a list for its next page. */
export const pageToken: z.ZodExactOptional<z.ZodString> = z
  .string()
  .exactOptional()
  .describe('`nextPageToken` of the previous page');
