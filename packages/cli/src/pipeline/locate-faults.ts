import type { Diagnostic } from '@sluice/core';
import type { LocalFault } from '@sluice/runner';
import type { LoadedPlan } from './load-plan.ts';

const CODES: ReadonlyMap<LocalFault['code'], string> = new Map([
  ['SOURCE_MISSING', 'missing-source'],
  ['TOO_MANY_MOUNTS', 'too-many-mounts'],
  ['TARGET_REJECTED', 'unusable-target'],
  ['GROUP_INVALID', 'invalid-group'],
]);

/** The faults that concern a value of the file, as diagnostics at that value; the others are omitted. */
export function locateFaults(
  faults: readonly LocalFault[],
  { locate }: Pick<LoadedPlan, 'locate'>,
): readonly Diagnostic[] {
  return faults.flatMap(({ code, message, hint, path }) => {
    if (path === undefined) return [];
    const range = locate(path);
    const diagnostic = { code: CODES.get(code) ?? 'rejected', severity: 'error' as const, message };
    return [{ ...diagnostic, ...(range && { range }), ...(hint !== undefined && { hint }) }];
  });
}
