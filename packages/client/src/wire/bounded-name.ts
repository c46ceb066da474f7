import { z } from 'zod';

/** A name that identifies something. A name that is too long is rejected, because a part of it would be another name. */
export const boundedName = z.string().max(1_024);
