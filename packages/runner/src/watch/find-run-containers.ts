import type { Container, ContainerService, Scope, ServiceErrorCode } from '@sluice/client';
import { isServiceError } from '@sluice/client';
import type { Plan } from '@sluice/core';
import PQueue from 'p-queue';
import { type AttemptName, containerId } from '../identity/container-id.ts';
import { readLabels } from '../identity/labels.ts';

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
}

const CALLS_AT_ONCE = 32;
/** Tries for a container whose reply is unreadable or may come from a gateway. */
const TRIES = 4;
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
 * have the same prefix: only these are queried, and a container counts only if its labels result in its ID.
 */
export async function findRunContainers(service: ContainerService, options: FindOptions): Promise<RunContainer[]> {
  const { scope } = options;
  const ids = await listIds(service, options);
  const queue = new PQueue({ concurrency: CALLS_AT_ONCE });
  const found = await queue.addAll(ids.sort().map((id) => () => readContainer(service, { ...scope, id })));
  return found.filter((container) => container !== undefined);
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

/** Undefined: the plan does not contain the cells of all steps. */
function listPossibleIds(plan: Plan, runId: string): string[] | undefined {
  const ids: string[] = [];
  for (const { step, cells } of plan.steps) {
    if (!cells) return undefined;
    const attempts = 1 + step.retry.limit + step.retry.infrastructure;
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
  for (let tries = 1; ; tries++) {
    try {
      const container = await service.containers.get(ref);
      const labels = readLabels(container.labels ?? {});
      return labels && containerId(labels.name) === ref.id ? { ...labels, container } : undefined;
    } catch (error) {
      // A single unreadable reply, for example a gateway's page, says nothing about the container.
      const isUnreadable = isServiceError(error) && (error.isForeign || error.code === 'INVALID_REPLY');
      if (isUnreadable && tries < TRIES) continue;
      // Removed since it was listed: its retention has expired.
      if (isServiceError(error, 'NOT_FOUND') && !error.isForeign) return undefined;
      throw error;
    }
  }
}
