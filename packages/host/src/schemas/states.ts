import { counts, runPhase, SHOWN_STATUSES } from '@sluice/run';
import { z } from 'zod';

/** The status of a run as a whole. */
export const runHead = z.strictObject({ status: runPhase, counts });

const LETTERS = SHOWN_STATUSES.map(({ letter }) => letter).join('');
const LEGEND = SHOWN_STATUSES.map(({ status, reused, letter }) => `${letter} ${status}${reused ? ', reused' : ''}`);

/** The status of every cell, as in `states`. */
export const states = z
  .array(z.string().regex(new RegExp(`^[${LETTERS}]*$`)))
  .describe(
    `for each step one letter per cell; empty while the cells of a \`foreach\` are unknown: ${LEGEND.join(', ')}`,
  );

/** The number of the journal's record after which a reply describes the run. */
export const position = z.int().min(0).describe('sequence number of a record in the journal of the run');
