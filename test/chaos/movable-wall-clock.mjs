// Loaded into a runner by `node --import`: the clock of the machine shows a time that is set in a file. What is monotonic
// stays as it is.
import { readFileSync } from 'node:fs';

const LOOK_MS = 20;
const { now } = Date;
let ahead = 0;
let lookedAt = Number.NEGATIVE_INFINITY;

Date.now = () => {
  if (performance.now() - lookedAt >= LOOK_MS) {
    lookedAt = performance.now();
    ahead = Number(readFileSync(process.env.SLUICE_CHAOS_CLOCK, 'utf8'));
  }
  return now() + ahead;
};
