import type { Volume } from '@sluice/client';
import { renderTime } from '../store/render-list-item.ts';
import type { VolumeRow } from '../store/volume-row.ts';
import { volumeFault } from './volume-fault.ts';

/** A volume as the list shows it, without its login. `root` is looked at: without its files a volume is `Unknown`. */
export function renderVolume(row: VolumeRow, root: string): Volume {
  const fault = row.phase === 'Available' ? volumeFault(root) : undefined;
  return {
    id: row.id,
    clusterID: row.clusterID,
    accountID: row.accountID,
    phase: fault === undefined ? row.phase : 'Unknown',
    state: fault === undefined ? row.state : `not usable until its files are back: ${fault}`,
    createTime: renderTime(row.createTime),
  };
}
