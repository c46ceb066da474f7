import { z } from 'zod';
import { boundedName } from './bounded-name.ts';

/** An account of a cluster that the user may use (protocol, "Account"). */
export const accountSchema = z.looseObject({ clusterID: boundedName, accountID: boundedName });
/** An account of a cluster; the pair is unique. */
export type Account = z.infer<typeof accountSchema>;

/** Reply of endpoint 1. */
export const accountListSchema = z.looseObject({ accounts: z.array(accountSchema) });
