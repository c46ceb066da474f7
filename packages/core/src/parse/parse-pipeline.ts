import type { Diagnostic, SourceRange } from '../model/diagnostic.ts';
import type { Pipeline } from '../model/pipeline.ts';
import { fail, ok, type Result } from '../model/result.ts';
import { assemblePipeline } from './assemble-pipeline.ts';
import { checkDocument } from './check-document.ts';
import { createFileSet } from './file-set.ts';
import { inFileOrder, locateFaults } from './locate-faults.ts';
import { readDocument } from './read-document.ts';
import type { Path } from './source-document.ts';

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

interface ParsedPipeline extends CheckedPipeline {
  /** Where a value stands, by its keys from the root, such as `['volumes', 'raw', 'source']`; else the nearest place. */
  readonly locate: (path: Path) => SourceRange | undefined;
}

/** Reads a pipeline file (YAML 1.2 or JSON) and checks all of it: every fault at once, in file order. */
export function parsePipeline(source: PipelineSource): Result<ParsedPipeline, readonly Diagnostic[]> {
  const document = readDocument(source.file, source.text);
  if (!document.ok) return document;
  const assembly = assemblePipeline(document.value, createFileSet(source.read));
  const suspicious = assembly.value !== document.value.value || MAY_HOLD_PROTO.test(source.text);
  const { pipeline, faults } = checkDocument(assembly.value, { suspicious, unread: assembly.unread });
  const diagnostics = inFileOrder([...assembly.diagnostics, ...locateFaults(faults, assembly)], source.file);
  if (pipeline === undefined || diagnostics.some(({ severity }) => severity === 'error')) return fail(diagnostics);
  return ok({ pipeline, warnings: diagnostics, locate: (path) => assembly.locate({ path }) });
}

/** Also with the underscores of the name written as escapes. */
const MAY_HOLD_PROTO = /__proto__|\\u005f|\\x5f|\\U0000005f/i;
