import type { Volume } from '@sluice/client';
import { renderTime } from '../containers/render-container.ts';
import type { VolumeRow } from './volume-row.ts';

/** A volume as the list shows it, without its login. */
export function renderVolume(row: VolumeRow): Volume {
  return {
    id: row.id,
    clusterID: row.clusterID,
    accountID: row.accountID,
    phase: row.phase,
    state: row.state,
    createTime: renderTime(row.createTime),
  };
}
