import type { FailureReport } from '../schemas/failure.ts';

/** What failures have in common that are shown together. */
export interface FailureCause extends Pick<FailureReport, 'step' | 'message'> {
  readonly reason?: FailureReport['reason'] | undefined;
  readonly exitCode?: number | undefined;
}

/**
 * Failures with the same cause: those of one step with the same class, exit code and message. In the order of the first of
 * each group; never empty ones.
 */
export function groupFailures<T>(
  failures: Iterable<T>,
  describe: (failure: T) => FailureCause,
): readonly (readonly [T, ...T[]])[] {
  const groups = new Map<string, [T, ...T[]]>();
  for (const failure of failures) {
    const { step, reason, exitCode, message } = describe(failure);
    const key = JSON.stringify([step, reason, exitCode, message]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [failure]);
    else group.push(failure);
  }
  return [...groups.values()];
}
