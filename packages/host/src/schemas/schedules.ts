import { runPhase, runSettings, time } from '@sluice/run';
import { z } from 'zod';
import { dryRun } from './actions.ts';

/** The reply of `GET /schedules`. */
export const scheduleList = z.strictObject({
  schedules: z
    .array(
      z.strictObject({
        name: z.string(),
        file: z.string().exactOptional(),
        settings: runSettings
          .exactOptional()
          .describe('the parameters and options of all runs; absent if no command has recorded them'),
        timezone: z.string(),
        nextAt: z.array(time).describe('the next planned times; empty if it is paused or has none'),
        pausedAt: time.exactOptional(),
      }),
    )
    .describe('by name'),
  nextPageToken: z.string().exactOptional(),
});

/** A planned time, and what became of it. */
export const plannedTime = z.strictObject({
  plannedAt: time,
  status: z
    .enum(['planned', 'started', 'skipped', 'missed'])
    .describe('`missed`: no process ran the schedule at this time, or it was paused'),
  runId: z.string().exactOptional().describe('of a started one'),
  runStatus: runPhase.exactOptional().describe('of its run; absent until it begins, and after it was removed'),
  isBackfill: z.boolean().exactOptional(),
  message: z.string().exactOptional().describe('why it was skipped'),
});

/** The reply of `GET /schedules/{name}/times`. */
export const plannedTimeList = z.strictObject({
  times: z.array(plannedTime).describe('oldest first'),
  nextPageToken: z.string().exactOptional(),
});

/** The body of actions on a schedule. */
export const scheduleBody = z.strictObject({ dryRun });

/** The body of `POST /schedules/{name}:backfill`. */
export const backfillBody = z.strictObject({
  dryRun,
  from: z.iso.datetime().describe('the first planned time'),
  to: z.iso.datetime().describe('the last planned time, included'),
});
