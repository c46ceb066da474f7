/**
 * Where the steps of a run may go, frozen at its start: its clusters may have other instance types tomorrow. Plain JSON
 * data. Steps that may go to the same places share a choice, since there may be a hundred thousand of them.
 */
export interface PlacementChoice {
  /** In order of preference: the next one is taken after an infrastructure failure. */
  readonly clusters: readonly string[];
  /** On the first of the clusters; absent where an expression names it. */
  readonly instanceType?: string;
}

/** See `PlacementChoice`. */
export interface RunPlacement {
  /** Account by cluster, for every cluster that any step may go to. */
  readonly accounts: Readonly<Record<string, string>>;
  readonly choices: readonly PlacementChoice[];
  /** Index into `choices` by step. */
  readonly ofStep: readonly number[];
}

/** Facts of a site, which no pipeline knows: how many containers run at once where, and what its service does. */
export interface SiteLimits {
  readonly clusters?: Readonly<Record<string, number>>;
  readonly instanceTypes?: Readonly<Record<string, number>>;
  /** Mounts of one container. */
  readonly mounts?: number;
  /** A container that the service has not shown for so many milliseconds is lost. Default: 5 minutes. */
  readonly lostAfterMs?: number;
}
