import type { Scope } from '@sluice/client';
import type { Plan } from '@sluice/core';
import type { RunPlacement, SiteLimits, VolumePlace } from '@sluice/run';
import type { NumberedOptions } from './number-events.ts';
import type { RunnerOptions } from './run-options.ts';

/** Options of a start or resume, with everything that provisioning the run depends on. */
export interface ProvisionOptions extends NumberedOptions<RunnerOptions> {
  readonly plan: Plan;
  readonly scope: Scope;
  readonly baseDir: string;
  /** The volumes that an earlier runner of the same run has chosen. They are kept. */
  readonly frozen?: Readonly<Record<string, VolumePlace>>;
  /** The workspaces, by cluster, of a run whose journal is lost. */
  readonly workspaces?: Readonly<Record<string, string>>;
  /** The clusters that an earlier runner of the same run has chosen. They are kept. */
  readonly placement?: RunPlacement;
  readonly limits?: SiteLimits;
  /** As in `StartRunOptions`. */
  readonly publishBelow?: string;
}
