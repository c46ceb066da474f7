/** A failure without the path of its log, which is a file of the machine that executes the run. */
export function withoutPath<T extends { readonly logFile?: string }>({
  logFile: _,
  ...failure
}: T): Omit<T, 'logFile'> {
  return failure;
}
