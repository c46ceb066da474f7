import { z } from 'zod';

/**
 * A name that identifies something. Names that are too long are rejected, because a shortened name would identify
 * something else.
 */
export const boundedName = z.string().max(1_024);
