import { type ContainerListItem, type ContainerService, isServiceError, type Scope } from '@sluice/client';

/** A page size that every service supports; larger pages are only requested if they save calls. */
const DEFAULT_PAGE = 100;
const LARGE_PAGE = 1000;
/** Items of the list of all that are read per wanted container at most: an account may contain a week of other runs. */
const LOOKED_THROUGH = 10;

/** What to list. */
export interface ListOptions {
  readonly scope: Scope;
  /** IDs of the containers to search for. */
  readonly wanted: ReadonlySet<string>;
  /**
   * Include ended containers, and those that some services do not count as running. Reading ends when all wanted ones
   * are found.
   */
  readonly all: boolean;
}

/** The result of reading a list. */
export interface Listed {
  /** The wanted containers that are listed, by ID. */
  readonly found: ReadonlyMap<string, ContainerListItem>;
  /** Items that were read. */
  readonly items: number;
}

/** Reads the list of an account's containers once, for all wanted containers. */
export async function listContainers(service: ContainerService, options: ListOptions): Promise<Listed> {
  if (!options.all && options.wanted.size <= DEFAULT_PAGE) return read(service, options, DEFAULT_PAGE);
  try {
    return await read(service, options, LARGE_PAGE);
  } catch (error) {
    // The protocol does not limit the page size; some services reject large pages instead of returning fewer items.
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
