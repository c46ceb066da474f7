import path from 'node:path';
import { type Clock, createSystemClock, createSystemDisk, type Disk } from '@sluice/home';
import type { RunnerOptions } from './run-options.ts';

/** Options with clock and disk filled in. */
export type FilledOptions<T> = T & { readonly clock: Clock; readonly disk: Disk };

/** Fills in the defaults, and makes `home` absolute. */
export function withDefaults<T extends Pick<RunnerOptions, 'home' | 'clock' | 'disk'>>(options: T): FilledOptions<T> {
  return {
    ...options,
    home: path.resolve(options.home),
    clock: options.clock ?? createSystemClock(),
    disk: options.disk ?? createSystemDisk(),
  };
}
