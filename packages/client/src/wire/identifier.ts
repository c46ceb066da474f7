import { z } from 'zod';

/** The longest identifier of `sluice serve`; the protocol defines no limit. */
const MAX_IDENTIFIER_LENGTH = 63;

/** ID of a volume, a container or a port: `[a-z0-9-]+` (protocol, "What the service does"). */
export const identifierSchema = z
  .string()
  .regex(/^[a-z0-9-]+$/, 'must consist of the characters a-z, 0-9 and -')
  .max(MAX_IDENTIFIER_LENGTH);
