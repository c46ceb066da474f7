import type { Scope } from '@sluice/client';
import type { Plan } from '@sluice/core';
import type { Clock } from '../clock.ts';
import type { Disk } from '../journal/disk.ts';
import type { VolumePlace } from '../journal/journal-record.ts';
import type { RunPlacement, SiteLimits } from '../journal/placement.ts';
import type { RunnerOptions } from './run-options.ts';

export interface ProvisionOptions extends RunnerOptions {
  readonly runId: string;
  readonly plan: Plan;
  readonly scope: Scope;
  readonly baseDir: string;
  readonly clock: Clock;
  readonly disk: Disk;
  /** The volumes that an earlier runner of the same run has chosen: they are not chosen again. */
  readonly frozen?: Readonly<Record<string, VolumePlace>>;
  /** The workspaces in which a run has begun whose journal is lost, by cluster. */
  readonly workspaces?: Readonly<Record<string, string>>;
  /** The places that an earlier runner of the same run has chosen. */
  readonly placement?: RunPlacement;
  readonly limits?: SiteLimits;
}
