/** How the command ends; scripts rely on the numbers (README.md). */
export const EXIT_CODE = {
  ok: 0,
  runFailed: 1,
  /** Wrong usage or a wrong file: nothing was started. */
  refused: 2,
  /** The service cannot be reached, or does not accept the login. */
  unreachable: 3,
  /** The run stands still and `sluice resume` takes it up, or `sluice adopt` before: EX_TEMPFAIL, which batch systems know. */
  suspended: 75,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT_CODE)[keyof typeof EXIT_CODE];
