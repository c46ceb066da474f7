/** A time that two processes of one machine can compare even if its clock is set. */
export interface BootTime {
  /** Different after each boot. */
  readonly id: string;
  readonly uptimeMs: number;
}
