import type { Container, ContainerService, Scope } from '@sluice/client';
import { isServiceError } from '@sluice/client';
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

const CALLS_AT_ONCE = 32;

/**
 * Every container of a run that the service still knows. The list gives no labels, but the IDs begin with the run's:
 * only those are asked for, and one counts only when its ID is the one that its labels make.
 */
export async function findRunContainers(service: ContainerService, scope: Scope, runId: string) {
  const ids: string[] = [];
  for await (const { id } of service.containers.list(scope, { all: true })) {
    if (id.startsWith(`s${runId}-`)) ids.push(id);
  }
  const queue = new PQueue({ concurrency: CALLS_AT_ONCE });
  const found = await queue.addAll(ids.sort().map((id) => () => readContainer(service, { ...scope, id })));
  return found.filter((container) => container !== undefined);
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
    // Gone since it was listed: its time was over.
    if (isServiceError(error, 'NOT_FOUND')) return undefined;
    throw error;
  }
}
