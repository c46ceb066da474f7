import { z } from 'zod';
import { boundedName } from './bounded-name.ts';

/** A supercomputer account bound to the user (protocol, "Account"). */
export const accountSchema = z.looseObject({ clusterID: boundedName, accountID: boundedName });
export type Account = z.infer<typeof accountSchema>;

/** Reply of endpoint 1. */
export const accountListSchema = z.looseObject({ accounts: z.array(accountSchema) });
