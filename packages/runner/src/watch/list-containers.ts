import { type ContainerListItem, type ContainerService, isServiceError, type Scope } from '@sluice/client';

/** Items per page that every service gives; larger pages are asked for only when they save calls. */
const DEFAULT_PAGE = 100;
const LARGE_PAGE = 1000;
/** Items of the list of everything that are read for each wanted container at most: an account may hold a week of other runs. */
const LOOKED_THROUGH = 10;

export interface ListOptions {
  readonly scope: Scope;
  /** IDs of the containers that the list is for. */
  readonly wanted: ReadonlySet<string>;
  /** Also what has ended, and what some services do not count as running. Reading ends when all that is wanted was found. */
  readonly all: boolean;
}

export interface Listed {
  /** Those of the wanted containers that are listed, by ID. */
  readonly found: ReadonlyMap<string, ContainerListItem>;
  /** Items that were read. */
  readonly items: number;
}

/** Reads the list of an account's containers, once, for all that is wanted of it. */
export async function listContainers(service: ContainerService, options: ListOptions): Promise<Listed> {
  if (!options.all && options.wanted.size <= DEFAULT_PAGE) return read(service, options, DEFAULT_PAGE);
  try {
    return await read(service, options, LARGE_PAGE);
  } catch (error) {
    // The protocol does not say how large a page may be; some services refuse instead of giving fewer.
    if (!isServiceError(error, 'INVALID_ARGUMENT')) throw error;
    return read(service, options, DEFAULT_PAGE);
  }
}

async function read(service: ContainerService, { scope, wanted, all }: ListOptions, pageSize: number): Promise<Listed> {
  const found = new Map<string, ContainerListItem>();
  const most = all ? Math.max(LARGE_PAGE, wanted.size * LOOKED_THROUGH) : Number.POSITIVE_INFINITY;
  let items = 0;
  for await (const item of service.containers.list(scope, { all, pageSize })) {
    items++;
    if (wanted.has(item.id)) found.set(item.id, item);
    if (items >= most || (all && found.size === wanted.size)) break;
  }
  return { found, items };
}
