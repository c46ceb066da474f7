import type { RunDetails } from '@sluice/host';

/** Two different runs. */
export interface RunPair {
  readonly run: RunDetails;
  /** What it is compared with. */
  readonly other: RunDetails;
}

/** Changes when one of the runs does. */
export function versionOf({ run, other }: RunPair): string {
  return `${run.position} ${other.position}`;
}
