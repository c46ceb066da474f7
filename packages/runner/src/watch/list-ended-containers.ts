import { type ContainerListItem, type ContainerService, isTerminalPhase, type Scope } from '@sluice/client';

/** Items read per wanted container at most: an account may contain a week of other runs. */
const LOOKED_THROUGH = 10;
const LARGE_PAGE = 1000;

/**
 * Reports the wanted containers that the list of all shows as ended, each as soon as it is read: thousands that end
 * together cost a few pages instead of a call each. Containers that are not among its first items are left to single
 * queries.
 */
export async function listEndedContainers(
  service: ContainerService,
  options: {
    readonly scope: Scope;
    readonly wanted: ReadonlySet<string>;
    readonly onEnded: (item: ContainerListItem) => void;
  },
): Promise<void> {
  const left = new Set(options.wanted);
  let read = 0;
  for await (const item of service.containers.list(options.scope, { all: true, pageSize: LARGE_PAGE })) {
    if (isTerminalPhase(item.phase ?? '') && left.delete(item.id)) options.onEnded(item);
    if (left.size === 0 || ++read >= options.wanted.size * LOOKED_THROUGH) return;
  }
}
