import type { RunDetails } from '@sluice/host';

/** Two different runs. */
export interface RunPair {
  readonly run: RunDetails;
  /** What it is compared with. */
  readonly other: RunDetails;
}
