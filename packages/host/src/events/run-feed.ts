import { isDeepStrictEqual } from 'node:util';
import type { RunFollower } from '@sluice/home';
import type { FollowedModel, RunError } from '@sluice/run';
import { describeHead, describeStates, readChanges } from '../runs/describe-states.ts';
import type { StreamEventName, StreamEvents } from '../schemas/events.ts';
import { encodeData } from './encode-data.ts';
import type { FeedPoint } from './event-id.ts';

/** The mean time between two events of a busy run: the changes meanwhile are collected. */
const BATCH_MS = 100;
/** Time without events that a run can make up for: its next events are then sent at once. */
const BURST_MS = 400;
/** A client that has missed more changes gets a snapshot. */
const MAX_CHANGES = 10_000;

/** An event about a run, with what its receiver then knows. Its data are encoded once for all receivers. */
export interface FeedEvent {
  readonly name: StreamEventName;
  readonly data: Uint8Array;
  readonly point: FeedPoint;
}

/** The events of one run for many clients. */
export interface RunFeed {
  /** Passes what happened after `from`, at once, and then everything that happens, until the returned function is called. */
  join(from: FeedPoint | undefined, listener: (event: FeedEvent) => void): () => void;
}

/** Follows the run while it has listeners. */
export function createRunFeed(run: RunFollower): RunFeed {
  const listeners = new Set<(event: FeedEvent) => void>();
  let sent = pointOf(run);
  let snapshot: FeedEvent | undefined;
  let problem: string | undefined;
  let nextAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  let unsubscribe = () => {};

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    const event = createCatchUp(run, sent);
    if (event === undefined) return;
    nextAt = Math.max(nextAt, performance.now() - BURST_MS) + BATCH_MS;
    sent = event.point;
    for (const listener of [...listeners]) listener(event);
  }

  /** Many clients that join at once share one. */
  function takeSnapshot(): FeedEvent {
    if (snapshot === undefined || !isDeepStrictEqual(snapshot.point, pointOf(run))) snapshot = createSnapshot(run);
    return snapshot;
  }

  function onChange(rejection?: RunError): void {
    const hasNewProblem = rejection !== undefined && rejection.message !== problem;
    problem = rejection?.message;
    if (hasNewProblem) {
      const data = { runId: run.runId, message: rejection.message } satisfies StreamEvents['missing'];
      for (const listener of [...listeners]) listener({ name: 'missing', data: encodeData(data), point: sent });
    }
    if (rejection) return;
    const wait = nextAt - performance.now();
    if (wait <= 0) flush();
    else timer ??= setTimeout(flush, wait);
  }

  return {
    join(from, listener) {
      // The others get what is new, too, so that all are at the same point.
      flush();
      const event = from === undefined ? takeSnapshot() : createCatchUp(run, from);
      if (event !== undefined) listener(event);
      listeners.add(listener);
      if (listeners.size === 1) unsubscribe = run.subscribe(onChange);
      return () => {
        if (!listeners.delete(listener) || listeners.size > 0) return;
        unsubscribe();
        clearTimeout(timer);
        timer = undefined;
      };
    },
  };
}

function pointOf(run: RunFollower): FeedPoint {
  const { position } = run.model;
  return { epoch: run.model.epochAt(position), position, status: describeHead(run).status };
}

function createSnapshot(run: RunFollower): FeedEvent {
  const data = {
    runId: run.runId,
    ...describeStates(run.model),
    run: describeHead(run),
  } satisfies StreamEvents['snapshot'];
  return { name: 'snapshot', data: encodeData(data), point: pointOf(run) };
}

/** What has happened after a point; undefined if nothing has. */
function createCatchUp(run: RunFollower, from: FeedPoint): FeedEvent | undefined {
  const { model, runId } = run;
  const point = pointOf(run);
  if (!reaches(model, from)) return createSnapshot(run);
  if (point.position === from.position && point.status === from.status) return undefined;
  const changes = readChanges(model, from.position);
  const data = { runId, position: point.position, changes, run: describeHead(run) } satisfies StreamEvents['changes'];
  return { name: 'changes', data: encodeData(data), point };
}

/** Whether the changes after a point are known, and not too many. */
function reaches({ moves, epochAt }: FollowedModel, { position, epoch }: FeedPoint): boolean {
  return epochAt(position) === epoch && moves.length - moves.after(position) <= MAX_CHANGES;
}
