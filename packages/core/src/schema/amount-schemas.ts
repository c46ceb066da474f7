import { z } from 'zod';
import { parseDuration } from './duration.ts';
import { DURATION, SIZE } from './patterns.ts';
import { parseSize } from './size.ts';

const WANTED_SIZE = 'must be a size with a unit, for example 64MB or 500GiB';
const WANTED_DURATION = 'must be a duration with its unit, for example 500ms, 90s, 12h or 7d';

/** A size of a configuration file, with the grammar of pipelines: `MB` is 10^6 bytes, `MiB` 2^20. Not zero. */
export const sizeSchema = z
  .string(WANTED_SIZE)
  .regex(SIZE, { error: WANTED_SIZE, abort: true })
  .refine((text) => parseSize(text) > 0, WANTED_SIZE);

/** A duration of a configuration file, with the grammar of pipelines. The bounds are durations, too. */
export function durationSchema({ min = '0s', max }: { readonly min?: string; readonly max?: string } = {}) {
  return z
    .string(WANTED_DURATION)
    .regex(DURATION, { error: WANTED_DURATION, abort: true })
    .refine((text) => parseDuration(text) >= parseDuration(min), `must be at least ${min}`)
    .refine((text) => max === undefined || parseDuration(text) <= parseDuration(max), `must be at most ${max}`);
}
