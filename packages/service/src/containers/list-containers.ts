import type { ContainerListItem, Scope } from '@sluice/client';
import type { PageRequest } from '../protocol/page.ts';
import { renderListItem } from '../store/render-list-item.ts';
import type { Store } from '../store/store.ts';
import { accountRange, TABLES } from '../store/tables.ts';
import type { LiveContainers } from './live-containers.ts';

/**
 * A list item in the form that it is there in: one that has ended is kept as JSON text, since a page over HTTP is then
 * put together without reading a row.
 */
export type ListedContainer =
  | { readonly key: string; readonly item: ContainerListItem }
  | { readonly key: string; readonly text: string };

/** One page in the order of creation; `hasMore` says whether another follows. */
export interface ListedPage {
  readonly containers: readonly ListedContainer[];
  readonly hasMore: boolean;
}

/** What is live, or with `all` also what has ended, of one account. */
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

export function itemOf(listed: ListedContainer): ContainerListItem {
  return 'item' in listed ? listed.item : (JSON.parse(listed.text) as ContainerListItem);
}

/** The reply of endpoint 9 as JSON text. */
export function renderContainerPage(page: { containers: readonly ListedContainer[]; nextPageToken: string }): string {
  const items = page.containers.map((listed) => ('text' in listed ? listed.text : JSON.stringify(listed.item)));
  return `{"containers":[${items.join()}],"nextPageToken":${JSON.stringify(page.nextPageToken)}}`;
}

function* liveItems(containers: LiveContainers, { accountID, after }: Scope & PageRequest): Iterable<ListedContainer> {
  for (const key of containers.ofAccount(accountID).after(after)) {
    const live = containers.get(key);
    if (live === undefined || !live.isCreated || live.row.deleted) continue;
    yield { key, item: renderListItem(live.row, containers.stateOf(live)) };
  }
}

/** Both are in the order of their keys. Live ones are listed as live, though their end may be on its way to the disk already. */
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
