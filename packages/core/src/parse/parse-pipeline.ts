import type { Fault } from '../checks/fault.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { Pipeline } from '../model/pipeline.ts';
import { fail, ok, type Result } from '../model/result.ts';
import { checkDocument } from './check-document.ts';
import { readDocument } from './read-document.ts';
import type { SourceDocument } from './source-document.ts';

export interface PipelineSource {
  readonly text: string;
  /** As diagnostics name it; `include` and `uses` are relative to its directory. */
  readonly file: string;
  /** Reads another file of the pipeline; the error says why it could not. Absent: such files are refused. */
  readonly read?: (path: string) => Result<string, string>;
}

export interface CheckedPipeline {
  readonly pipeline: Pipeline;
  /** In file order. */
  readonly warnings: readonly Diagnostic[];
}

/** Reads a pipeline file (YAML 1.2 or JSON) and checks all of it: every fault at once, in file order. */
export function parsePipeline(source: PipelineSource): Result<CheckedPipeline, readonly Diagnostic[]> {
  const document = readDocument(source.file, source.text);
  if (!document.ok) return document;
  const { pipeline, faults } = checkDocument(document.value.value, { suspicious: MAY_HOLD_PROTO.test(source.text) });
  const diagnostics = locateFaults(faults, document.value);
  if (pipeline === undefined || diagnostics.some(({ severity }) => severity === 'error')) return fail(diagnostics);
  return ok({ pipeline, warnings: diagnostics });
}

/** Diagnostics with lines and columns, in file order, each once. */
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
    const key = `${fault.code}\0${fault.message}\0${range?.line}\0${range?.column}`;
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
  return diagnostics.sort(byPlace);
}

function byPlace(a: Diagnostic, b: Diagnostic): number {
  if (a.range === undefined || b.range === undefined)
    return (a.range === undefined ? 0 : 1) - (b.range === undefined ? 0 : 1);
  return a.range.line - b.range.line || a.range.column - b.range.column;
}

/** Also with the underscores of the name written as escapes. */
const MAY_HOLD_PROTO = /__proto__|\\u005f|\\x5f|\\U0000005f/i;
