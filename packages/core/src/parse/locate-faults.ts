import type { Fault } from '../checks/fault.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { SourceDocument } from './source-document.ts';

/** Converts faults to diagnostics with lines and columns, without duplicates. */
export function locateFaults(
  faults: readonly Fault[],
  document: Pick<SourceDocument, 'locate'>,
): readonly Diagnostic[] {
  const seen = new Set<string>();
  const diagnostics: Diagnostic[] = [];
  for (const fault of faults) {
    const range = document.locate(fault);
    const related = (fault.related ?? []).flatMap(({ message, ...spot }) => {
      const place = document.locate(spot);
      return place === undefined ? [] : [{ message, range: place }];
    });
    const key = `${fault.code}\0${fault.message}\0${range?.file}\0${range?.line}\0${range?.column}`;
    if (seen.has(key)) continue;
    seen.add(key);
    diagnostics.push({
      code: fault.code,
      severity: fault.severity ?? 'error',
      message: fault.message,
      ...(range && { range }),
      ...(fault.hint !== undefined && { hint: fault.hint }),
      ...(related.length > 0 && { related }),
    });
  }
  return diagnostics;
}

/** Sorts diagnostics: those without a position first, then by file, `first` before the others, then by position. */
export function inFileOrder(diagnostics: readonly Diagnostic[], first: string): readonly Diagnostic[] {
  const rank = ({ range }: Diagnostic): string =>
    range === undefined ? '0' : range.file === first ? '1' : `2${range.file}`;
  return [...diagnostics].sort((a, b) => {
    const [one, other] = [rank(a), rank(b)];
    if (one !== other) return one < other ? -1 : 1;
    if (a.range === undefined || b.range === undefined) return 0;
    return a.range.line - b.range.line || a.range.column - b.range.column;
  });
}
