import type { Container, ContainerService, Scope, ServiceErrorCode } from '@sluice/client';
import { isServiceError } from '@sluice/client';
import type { Plan } from '@sluice/core';
import PQueue from 'p-queue';
import { type AttemptName, containerId } from '../identity/container-id.ts';
import { readLabels } from '../identity/labels.ts';

/** A container of a run, as its labels tell it. */
export interface RunContainer {
  readonly name: AttemptName;
  /** Which opening of the journal asked for it. */
  readonly epoch: number;
  readonly container: Container;
}

export interface FindOptions {
  readonly scope: Scope;
  readonly runId: string;
  /** Where the list does not work, each container that the plan can have is asked for by itself. */
  readonly plan?: Plan | undefined;
}

const CALLS_AT_ONCE = 32;
/** For a container whose reply cannot be read, or may be a gateway's. */
const TRIES = 4;
/** Errors of a service that would answer a question about one container no better. */
const AWAY: readonly ServiceErrorCode[] = [
  'UNREACHABLE',
  'NO_REPLY',
  'ABORTED',
  'UNAUTHENTICATED',
  'RESOURCE_EXHAUSTED',
];

/**
 * Every container of a run that the service still knows, ordered by ID. The list gives no labels, but the IDs begin with
 * the run's: only those are asked for, and one counts only when its ID is the one that its labels make.
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

/** Undefined: the plan does not say which cells its steps have. */
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
      // One odd reply of many, such as a gateway's page, says nothing of the container.
      const isUnreadable = isServiceError(error) && (error.isForeign || error.code === 'INVALID_REPLY');
      if (isUnreadable && tries < TRIES) continue;
      // Gone since it was listed: its time was over.
      if (isServiceError(error, 'NOT_FOUND') && !error.isForeign) return undefined;
      throw error;
    }
  }
}
