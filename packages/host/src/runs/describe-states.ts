import { type CellMove, type FollowedModel, type RunFollower, SHOWN_STATUSES } from '@sluice/runner';
import type { z } from 'zod';
import type { move, runMoves, runStates } from '../schemas/run-replies.ts';
import { type runHead, STATE_LETTERS } from '../schemas/words.ts';

/** The letter of each byte in `RunModel.states`. */
const LETTERS = Buffer.from(
  SHOWN_STATUSES.map(({ status, reused }) => {
    const [letter = ''] = Object.entries(STATE_LETTERS).find(
      ([one, word]) => word === status && (one === 'e') === reused,
    )!;
    return letter;
  }).join(''),
);

/** The status of every cell of a run. */
export function describeStates({ position, states }: FollowedModel): z.infer<typeof runStates> {
  return { position, states: states.map((row) => Buffer.from(row.map((code) => LETTERS[code]!)).toString('latin1')) };
}

/** Moves of a run after a position; all moves of one position are in the same reply, so that `limit` may be exceeded. */
export function describeMoves(
  { moves, position }: FollowedModel,
  { after, limit }: { readonly after: number; readonly limit: number },
): z.infer<typeof runMoves> {
  const from = moves.after(after);
  let to = Math.min(moves.length, from + limit);
  if (to < moves.length && to > from) to = moves.after(moves.at(to - 1).position);
  const described: z.infer<typeof move>[] = [];
  for (let index = from; index < to; index++) described.push(describeMove(moves.at(index)));
  const more = to < moves.length;
  return { position: more ? moves.at(to - 1).position : position, moves: described, more };
}

function describeMove({ position, at, step, cell, status, attempt }: CellMove): z.infer<typeof move> {
  const shown = SHOWN_STATUSES[status]!;
  return [position, at, step, cell, shown.status, attempt, shown.reused];
}

/** The status and the counts of a run. */
export function describeHead({ model, phase }: RunFollower): z.infer<typeof runHead> {
  return { status: phase, counts: model.counts() };
}
