import type { RunFollower } from '@sluice/home';
import { type CellMove, type FollowedModel, SHOWN_STATUSES } from '@sluice/run';
import { z } from 'zod';
import { ApiError } from '../errors/api-error.ts';
import type { cellChange, changeList, runStates } from '../schemas/run-replies.ts';
import type { runHead } from '../schemas/states.ts';
import type { Page } from './page-query.ts';

/** The letter of each byte in `RunModel.states`. */
const LETTERS = Buffer.from(SHOWN_STATUSES.map(({ letter }) => letter).join(''));

/** The status of every cell of a run. */
export function describeStates({ position, states }: FollowedModel): z.input<typeof runStates> {
  return { position, states: states.map((row) => Buffer.from(row.map((code) => LETTERS[code]!)).toString('latin1')) };
}

/** All changes of a run after a position. */
export function readChanges({ moves }: FollowedModel, after: number): Change[] {
  return describeRange(moves, moves.after(after), moves.length);
}

/** The changes after a position, a page of them. A page may end between changes of one position, since these may be many. */
export function describeChanges(model: FollowedModel, after: number, page: Page): z.input<typeof changeList> {
  const { moves, position, epochAt } = model;
  const start = page.start(changePage);
  if (start !== undefined && epochAt(start.after) !== start.epoch) {
    throw new ApiError(
      400,
      'PAGE_TOKEN_INVALID',
      'could not use the query parameter pageToken: the journal of the run has changed; read the first page again',
    );
  }
  const from = start === undefined ? moves.after(after) : Math.min(moves.length, moves.after(start.after) + start.skip);
  const to = Math.min(moves.length, from + page.size);
  const changes = describeRange(moves, from, to);
  if (to === moves.length) return { position, changes };
  const complete = moves.at(to).position - 1;
  const next = { after: complete, skip: to - moves.after(complete), epoch: epochAt(complete) };
  return { position: complete, changes, nextPageToken: page.tokenOf(next) };
}

/** A position up to which all changes were sent, how many of the next one were, and the epoch of the journal there. */
const changePage = z.strictObject({ after: z.int().min(0), skip: z.int().min(0), epoch: z.int().min(0) });

type Change = z.input<typeof cellChange>;

function describeRange(moves: FollowedModel['moves'], from: number, to: number): Change[] {
  const changes: Change[] = [];
  for (let index = from; index < to; index++) changes.push(describeChange(moves.at(index)));
  return changes;
}

function describeChange({ position, at, step, cell, status, attempt }: CellMove): Change {
  const shown = SHOWN_STATUSES[status]!;
  return [position, at, step, cell, shown.status, attempt, shown.reused];
}

/** The status and the counts of a run. */
export function describeHead({ model, phase }: RunFollower): z.input<typeof runHead> {
  return { status: phase, counts: model.counts() };
}
