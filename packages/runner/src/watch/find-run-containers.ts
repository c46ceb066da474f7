import {
  backoffDelay,
  type Container,
  type ContainerService,
  isServiceError,
  type Scope,
  type ServiceError,
  type ServiceErrorCode,
} from '@sluice/client';
import { batchesOfPlan, type Plan, retriesOfCells } from '@sluice/core';
import { type Clock, containerId, sleep } from '@sluice/home';
import type { AttemptName } from '@sluice/run';
import PQueue from 'p-queue';
import { readLabels } from '../session/labels.ts';
import { CALL_BACKOFF } from '../session/run-session.ts';

/** A container of a run, identified by its labels. */
export interface RunContainer {
  readonly name: AttemptName;
  /** The epoch of the runner that requested it. */
  readonly epoch: number;
  readonly container: Container;
}

/** Which run to search for, and where. */
export interface FindOptions {
  readonly scope: Scope;
  readonly runId: string;
  /** If the list fails, each container that this plan can have is queried individually. */
  readonly plan?: Plan | undefined;
  readonly clock: Pick<Clock, 'now' | 'setTimer'>;
}

const CALLS_AT_ONCE = 32;
/** How long a call is repeated: nothing else happens in the meantime, and an operator may wait for the result. */
const LONGEST_RETRY_MS = 60_000;
/** Errors that say nothing about the container, so that the same call may succeed later. */
const TEMPORARY: readonly ServiceErrorCode[] = [
  'UNREACHABLE',
  'NO_REPLY',
  'INVALID_REPLY',
  'UNAVAILABLE',
  'RESOURCE_EXHAUSTED',
];
/** Errors after which queries for single containers would also fail. */
const AWAY: readonly ServiceErrorCode[] = [
  'UNREACHABLE',
  'NO_REPLY',
  'ABORTED',
  'UNAUTHENTICATED',
  'RESOURCE_EXHAUSTED',
];

/**
 * Every container of a run that the service still knows, ordered by ID. The list has no labels, but all IDs of a run
 * have the same prefix: only these are queried, and a container counts only if its labels result in its ID. A query that
 * fails temporarily is repeated for a minute. Throws `ServiceError`.
 */
export async function findRunContainers(service: ContainerService, options: FindOptions): Promise<RunContainer[]> {
  const { scope } = options;
  const ids = await repeat(options, {
    call: () => listIds(service, options),
    mayRepeat: (error) => isServiceError(error, 'RESOURCE_EXHAUSTED'),
  });
  const queue = new PQueue({ concurrency: CALLS_AT_ONCE });
  const query = (id: string) =>
    repeat(options, {
      call: () => readContainer(service, { ...scope, id }),
      mayRepeat: (error) => !queue.isPaused && (error.isForeign || isServiceError(error, ...TEMPORARY)),
    });
  try {
    const found = await queue.addAll(ids.sort().map((id) => () => query(id)));
    return found.filter((container) => container !== undefined);
  } catch (error) {
    // The other queries are not needed without this one.
    queue.pause();
    queue.clear();
    throw error;
  }
}

/** The result of a call, which is repeated while it fails temporarily, but not for longer than a minute. */
async function repeat<T>(
  { clock }: FindOptions,
  { call, mayRepeat }: { readonly call: () => Promise<T>; readonly mayRepeat: (error: ServiceError) => boolean },
): Promise<T> {
  const deadline = clock.now() + LONGEST_RETRY_MS;
  for (let tries = 1; ; tries++) {
    try {
      return await call();
    } catch (error) {
      if (!isServiceError(error) || !mayRepeat(error)) throw error;
      const waitMs = error.retryAfterMs ?? backoffDelay(CALL_BACKOFF, tries);
      if (clock.now() + waitMs > deadline) throw error;
      await sleep(clock, waitMs);
      // The search may have ended meanwhile.
      if (!mayRepeat(error)) throw error;
    }
  }
}

async function listIds(service: ContainerService, { scope, runId, plan }: FindOptions): Promise<string[]> {
  const ids: string[] = [];
  try {
    for await (const { id } of service.containers.list(scope, { all: true })) {
      if (id.startsWith(`s${runId}-`)) ids.push(id);
    }
    return ids;
  } catch (error) {
    const possible = plan && listPossibleIds(plan, runId);
    if (!isServiceError(error) || isServiceError(error, ...AWAY) || !possible) throw error;
    return possible;
  }
}

/** Undefined: the plan does not contain the cells of all steps, as those of a `foreach` or of a listed axis. */
function listPossibleIds(plan: Plan, runId: string): string[] | undefined {
  const ids: string[] = [];
  const batches = batchesOfPlan(plan);
  for (const { index, step, cells } of plan.steps) {
    if (!cells || batches[index] !== undefined) return undefined;
    const retries = retriesOfCells(plan, index);
    if (retries === undefined) return undefined;
    const attempts = 1 + Math.max(...retries.map(({ limit, infrastructure }) => limit + infrastructure));
    for (const { key: cell } of cells) {
      for (let attempt = 1; attempt <= attempts; attempt++) {
        ids.push(containerId({ runId, step: step.name, cell, attempt }));
      }
    }
  }
  return ids;
}

async function readContainer(
  service: ContainerService,
  ref: Scope & { readonly id: string },
): Promise<RunContainer | undefined> {
  try {
    const container = await service.containers.get(ref);
    const labels = readLabels(container.labels ?? {});
    return labels && containerId(labels.name) === ref.id ? { ...labels, container } : undefined;
  } catch (error) {
    // Removed since it was listed: its retention has expired.
    if (isServiceError(error, 'NOT_FOUND') && !error.isForeign) return undefined;
    throw error;
  }
}
