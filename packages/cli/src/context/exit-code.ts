/** The exit codes of the command. Scripts rely on the numbers (README.md). */
export const EXIT_CODE = {
  ok: 0,
  runFailed: 1,
  /** Wrong usage or an invalid file: nothing was started. */
  rejected: 2,
  /** The service cannot be reached, or does not accept the login. */
  unreachable: 3,
  /** The concurrency group is occupied and its `overlap` is `fail`: nothing was started, and nothing can be resumed. */
  busy: 4,
  /**
   * EX_TEMPFAIL, which batch systems know: the run is suspended. `sluice resume` continues it, if necessary after
   * `sluice adopt`.
   */
  suspended: 75,
  interrupted: 130,
} as const;

/** Any of the values of `EXIT_CODE`. */
export type ExitCode = (typeof EXIT_CODE)[keyof typeof EXIT_CODE];

/** What the codes mean, for `sluice help exit-codes`. */
export const EXIT_CODE_MEANINGS: Readonly<Record<ExitCode, string>> = {
  [EXIT_CODE.ok]: 'success',
  [EXIT_CODE.runFailed]:
    'the run failed or was canceled by another process, an output could not be published, or the output of the command could not be written',
  [EXIT_CODE.rejected]: 'wrong usage or an invalid file; nothing was started',
  [EXIT_CODE.unreachable]: 'the service cannot be reached, or does not accept the login',
  [EXIT_CODE.busy]: 'the concurrency group is occupied and its `overlap` is `fail`; nothing was started',
  [EXIT_CODE.suspended]: 'the run is suspended: it can be resumed, or adopted if its journal is lost',
  [EXIT_CODE.interrupted]: 'interrupted from the keyboard',
};
