import type { RunFollower } from '@sluice/home';
import { type CellMove, type FollowedModel, SHOWN_STATUSES } from '@sluice/run';
import type { z } from 'zod';
import type { move, runMoves, runStates } from '../schemas/run-replies.ts';
import type { runHead } from '../schemas/states.ts';

/** The letter of each byte in `RunModel.states`. */
const LETTERS = Buffer.from(SHOWN_STATUSES.map(({ letter }) => letter).join(''));

/** The status of every cell of a run. */
export function describeStates({ position, states }: FollowedModel): z.input<typeof runStates> {
  return { position, states: states.map((row) => Buffer.from(row.map((code) => LETTERS[code]!)).toString('latin1')) };
}

/**
 * Moves of a run after a position, at most `limit`. All moves of one position are in the same reply, unless they alone
 * are more: then `skip` says how many of the next position have been returned.
 */
export function describeMoves(
  { moves, position }: FollowedModel,
  { after, skip = 0, limit }: { readonly after: number; readonly skip?: number; readonly limit: number },
): z.input<typeof runMoves> {
  const from = Math.min(moves.length, moves.after(after) + skip);
  const to = findEnd(moves, from, limit);
  const described: z.input<typeof move>[] = [];
  for (let index = from; index < to; index++) described.push(describeMove(moves.at(index)));
  if (to === moves.length) return { position, moves: described, more: false };
  const last = moves.at(to - 1).position;
  if (moves.at(to).position !== last) return { position: last, moves: described, more: true };
  return { position: last - 1, skip: to - moves.after(last - 1), moves: described, more: true };
}

/** The end of a page: that of the last position which fits as a whole, if there is one. */
function findEnd(moves: FollowedModel['moves'], from: number, limit: number): number {
  const to = Math.min(moves.length, from + limit);
  if (to === moves.length || moves.at(to).position !== moves.at(to - 1).position) return to;
  const whole = moves.after(moves.at(to).position - 1);
  return whole > from ? whole : to;
}

function describeMove({ position, at, step, cell, status, attempt }: CellMove): z.input<typeof move> {
  const shown = SHOWN_STATUSES[status]!;
  return [position, at, step, cell, shown.status, attempt, shown.reused];
}

/** The status and the counts of a run. */
export function describeHead({ model, phase }: RunFollower): z.input<typeof runHead> {
  return { status: phase, counts: model.counts() };
}
