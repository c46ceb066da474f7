import { setFlagsFromString } from 'node:v8';
import type { Plan } from '@sluice/core';

/** From so many steps on it can be measured. */
const MANY_STEPS = 1000;
/** The major version of V8 that this has been measured with. */
const MEASURED = /^11\./;

/**
 * Lets V8 optimize a function fifteen times later than by itself: in a run of a second, most of what it optimizes is
 * never made up for (docs/decisions/0010-bundle.md). What goes on for long is optimized all the same. To be called when
 * the modules are loaded, since what was compiled of them before is for the flags of that time.
 */
export function optimizeLate(plan: Plan): void {
  if (plan.steps.length >= MANY_STEPS && MEASURED.test(process.versions.v8)) {
    setFlagsFromString('--interrupt-budget=1000000');
  }
}
