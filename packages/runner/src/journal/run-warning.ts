/** Something that the user should know and that stopped nothing. */
export interface RunWarning {
  readonly at: number;
  readonly message: string;
  readonly concerns?: WarningTopic;
}

/** What a warning is about, where that explains how steps are: `service`, the replies to questions about containers. */
export type WarningTopic = 'service';
