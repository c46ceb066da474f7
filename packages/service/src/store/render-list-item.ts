import type { ContainerListItem } from '@sluice/client';
import type { ContainerRow } from './container-row.ts';

/** A container as an item of a list. The items of ended containers are stored in `endedItems`. */
export function renderListItem(row: ContainerRow, state: string): ContainerListItem {
  return {
    id: row.id,
    clusterID: row.clusterID,
    accountID: row.accountID,
    ...(row.spec.image === undefined ? {} : { image: row.spec.image }),
    phase: row.phase,
    state,
    createTime: renderTime(row.createTime),
  };
}

/** ISO 8601 in UTC with milliseconds. */
export function renderTime(time: number): string {
  return new Date(time).toISOString();
}
