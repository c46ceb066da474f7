import { type ContainerListItem, type ContainerService, isServiceError, type Scope } from '@sluice/client';

/** Items per page that every service gives; larger pages are asked for only when they save calls. */
const DEFAULT_PAGE = 100;
const LARGE_PAGE = 1000;

/** Everything of an account that has not ended, by ID. */
export async function listLiveContainers(
  service: ContainerService,
  scope: Scope,
  expected: number,
): Promise<Map<string, ContainerListItem>> {
  if (expected <= DEFAULT_PAGE) return collect(service, scope, DEFAULT_PAGE);
  try {
    return await collect(service, scope, LARGE_PAGE);
  } catch (error) {
    // The protocol does not say how large a page may be; some services refuse instead of giving fewer.
    if (!isServiceError(error, 'INVALID_ARGUMENT')) throw error;
    return collect(service, scope, DEFAULT_PAGE);
  }
}

async function collect(
  service: ContainerService,
  scope: Scope,
  pageSize: number,
): Promise<Map<string, ContainerListItem>> {
  const items = new Map<string, ContainerListItem>();
  for await (const item of service.containers.list(scope, { all: false, pageSize })) items.set(item.id, item);
  return items;
}
