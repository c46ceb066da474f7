import { z } from 'zod';

/** A supercomputer account bound to the user (protocol, "Account"). */
export const accountSchema = z.looseObject({ clusterID: z.string(), accountID: z.string() });
export type Account = z.infer<typeof accountSchema>;

/** Reply of endpoint 1. */
export const accountListSchema = z.looseObject({ accounts: z.array(accountSchema) });
