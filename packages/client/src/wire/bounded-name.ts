import { z } from 'zod';

/** A name by which things are told apart: one that is longer than any is refused, since a part of it is another name. */
export const boundedName = z.string().max(1_024);
