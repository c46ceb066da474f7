import { z } from 'zod';

/** A time in a printed value. */
export const timeSchema = z.iso.datetime({ precision: 3 }).describe('RFC 3339 in UTC, with milliseconds');
