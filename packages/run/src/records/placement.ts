/**
 * The clusters on which cells may run, frozen at the start, since the clusters' instance types may change later. Plain
 * JSON data. Equal choices are one, since there may be a hundred thousand steps or cells.
 */
export interface PlacementChoice {
  /** In order of preference: after an infrastructure failure, the next one is used. */
  readonly clusters: readonly string[];
  /** On the first of the clusters; absent if it is an expression, or depends on the cell. */
  readonly instanceType?: string;
}

/** The placement of all cells; see `PlacementChoice`. */
export interface RunPlacement {
  /** Account by cluster, for every cluster on which a cell may run. */
  readonly accounts: Readonly<Record<string, string>>;
  /** The distinct choices; steps with equal requirements share one. */
  readonly choices: readonly PlacementChoice[];
  /** By step: index into `choices`, or a list of them by cell if the cells of the step have different ones. */
  readonly ofStep: readonly (number | readonly number[])[];
}

/** Limits of a service that no pipeline states: how many containers run concurrently, by cluster and by instance type. */
export interface SiteLimits {
  /** By cluster: most concurrent containers of one run. */
  readonly clusters?: Readonly<Record<string, number>>;
  /** By instance type: most concurrent containers of one run. */
  readonly instanceTypes?: Readonly<Record<string, number>>;
  /** The most mounts of one container. */
  readonly mounts?: number;
  /** A container that the service has not reported for this many milliseconds is lost. Default: 5 minutes. */
  readonly lostAfterMs?: number;
}
