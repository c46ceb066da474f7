import type { ContainerListItem, Scope } from '@sluice/client';
import type { PageRequest } from '../protocol/page.ts';
import { renderListItem } from '../store/render-list-item.ts';
import type { Store } from '../store/store.ts';
import { accountRange, TABLES } from '../store/tables.ts';
import type { LiveContainers } from './live-containers.ts';

/**
 * An item of a list, as an object for a live container and as JSON text for an ended one. The text is stored, so that a
 * page over HTTP is assembled without reading rows.
 */
export type ListedContainer =
  | { readonly key: string; readonly item: ContainerListItem }
  | { readonly key: string; readonly text: string };

/** One page, in the order of creation. `hasMore`: another page follows. */
export interface ListedPage {
  readonly containers: readonly ListedContainer[];
  readonly hasMore: boolean;
}

/** The live containers of an account, or with `all` also those that have ended. */
export function listContainers(
  { store, containers: ofCluster }: { store: Store; containers: LiveContainers },
  request: Scope & PageRequest & { readonly all: boolean },
): ListedPage {
  const live = liveItems(ofCluster, request);
  const containers: ListedContainer[] = [];
  for (const listed of request.all ? withEnded(live, store, request) : live) {
    if (containers.length === request.pageSize) return { containers, hasMore: true };
    containers.push(listed);
  }
  return { containers, hasMore: false };
}

/** Parses the item if it is JSON text. */
export function itemOf(listed: ListedContainer): ContainerListItem {
  return 'item' in listed ? listed.item : (JSON.parse(listed.text) as ContainerListItem);
}

/** The reply of endpoint 9 as JSON text. */
export function renderContainerPage(page: { containers: readonly ListedContainer[]; nextPageToken: string }): string {
  const items = page.containers.map((listed) => ('text' in listed ? listed.text : JSON.stringify(listed.item)));
  return `{"containers":[${items.join()}],"nextPageToken":${JSON.stringify(page.nextPageToken)}}`;
}

function* liveItems(containers: LiveContainers, { accountID, after }: Scope & PageRequest): Iterable<ListedContainer> {
  for (const key of containers.containersOf(accountID).after(after)) {
    const live = containers.get(key);
    if (live === undefined || !live.isCreated || live.row.deleted) continue;
    yield { key, item: renderListItem(live.row, containers.stateOf(live)) };
  }
}

/** Merges both in the order of their keys. A container that is in both is listed as live: its end is not yet durable. */
function* withEnded(
  live: Iterable<ListedContainer>,
  store: Store,
  scope: Scope & PageRequest,
): Iterable<ListedContainer> {
  const rest = live[Symbol.iterator]();
  let next = rest.next();
  for (const [key, text] of store.range(TABLES.endedItems, accountRange(scope, scope.after))) {
    for (; !next.done && next.value.key < key; next = rest.next()) yield next.value;
    if (next.done || next.value.key !== key) yield { key, text };
  }
  for (; !next.done; next = rest.next()) yield next.value;
}
