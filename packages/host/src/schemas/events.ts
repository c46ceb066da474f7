import { runEntry } from '@sluice/run';
import { z } from 'zod';
import { cellChange } from './run-replies.ts';
import { position, runHead, states } from './states.ts';

/**
 * The events of `GET /events`, by name; the data of each is one JSON value. A client that applies every `changes` to the
 * latest `snapshot` of its run has the states of `GET /runs/{runId}/states` at that position.
 */
export const STREAM_EVENTS = {
  changes: z
    .strictObject({ runId: z.string(), position, changes: z.array(cellChange), run: runHead })
    .describe('What has changed since the previous event of this run. Empty if only the run itself has changed.'),
  snapshot: z
    .strictObject({ runId: z.string(), position, states, run: runHead })
    .describe('Replaces everything known of the run: the first event of a run, or the missed part is too large.'),
  runs: z
    .strictObject({ runs: z.array(runEntry), removed: z.array(z.string()) })
    .describe('Runs that appeared or changed since the previous event, and the IDs of removed ones.'),
  missing: z
    .strictObject({ runId: z.string(), message: z.string() })
    .describe(
      'The run cannot be read, or not any longer. Further events follow if that changes while a client follows it.',
    ),
} as const;

/** The names of the stream's events. */
export type StreamEventName = keyof typeof STREAM_EVENTS;

/** The data of an event, by its name. */
export type StreamEvents = { [N in StreamEventName]: z.input<(typeof STREAM_EVENTS)[N]> };
