/** Where a public function was called. The text is made only when it is read, so remembering a site is cheap. */
export interface CallSite {
  readonly stack: string;
}

/** The place that called `callee`, which is on the stack now. */
export function captureCallSite(callee: (...args: never[]) => unknown): CallSite {
  const site = { stack: '' };
  // A function of V8 that the standard library's types do not have.
  (Error as unknown as { captureStackTrace(target: object, callee: unknown): void }).captureStackTrace(site, callee);
  return site;
}

/** `file:line:column` of a call site, or `an unknown place` where the engine does not tell it. */
export function describeCallSite({ stack }: CallSite): string {
  const frame = stack.split('\n').find((line) => /^\s+at /.test(line)) ?? '';
  return /\(?((?:file:\/\/)?[^\s()]+:\d+:\d+)\)?$/.exec(frame)?.[1] ?? 'an unknown place';
}
