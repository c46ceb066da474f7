/** The code of a failed system call, such as `ENOENT`; undefined for other errors. */
export function systemErrorCode(error: unknown): string | undefined {
  return error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
}

/** Whether the error is a failed system call with one of these codes. */
export function isSystemError(error: unknown, ...codes: readonly string[]): boolean {
  const code = systemErrorCode(error);
  return code !== undefined && codes.includes(code);
}
