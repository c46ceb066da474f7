/** A problem that the user should know and that has not stopped the run. */
export interface RunWarning {
  readonly at: number;
  readonly message: string;
  readonly concerns?: WarningTopic;
}

/** The subject of a warning that explains the state of steps. `service`: how the service answers requests about containers. */
export type WarningTopic = 'service';
