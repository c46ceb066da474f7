import type { Diagnostic, SourceRange } from '../model/diagnostic.ts';
import type { Pipeline } from '../model/pipeline.ts';
import { fail, ok, type Result } from '../model/result.ts';
import type { RawPipeline } from '../schema/pipeline-schema.ts';
import { addEnvironments } from './add-environments.ts';
import { assemblePipeline } from './assemble-pipeline.ts';
import { checkDocument } from './check-document.ts';
import { createFileSet } from './file-set.ts';
import { inFileOrder, locateFaults } from './locate-faults.ts';
import { readDocument } from './read-document.ts';
import type { Path } from './source-document.ts';

/** The text of a pipeline file and access to the files that it includes or uses. */
export interface PipelineSource {
  readonly text: string;
  /** Its name in diagnostics; `include` and `uses` are relative to its directory. */
  readonly file: string;
  /** Returns the text of another file, or the reason why it cannot be read. Absent: other files are rejected. */
  readonly read?: (path: string) => Result<string, string>;
}

/** A pipeline without errors. */
export interface CheckedPipeline {
  readonly pipeline: Pipeline;
  /** In file order. */
  readonly warnings: readonly Diagnostic[];
}

interface ParsedPipeline extends CheckedPipeline {
  /**
   * The position of a value by its keys from the root, such as `['volumes', 'raw', 'source']`; else the nearest
   * position.
   */
  readonly locate: (path: Path) => SourceRange | undefined;
}

/**
 * Reads a pipeline file (YAML 1.2 or JSON) and checks it completely. The error contains all faults and warnings in file
 * order. Never throws for invalid input.
 */
export function parsePipeline(source: PipelineSource): Result<ParsedPipeline, readonly Diagnostic[]> {
  const document = readDocument(source.file, source.text);
  if (!document.ok) return document;
  const assembly = assemblePipeline(document.value, createFileSet(source.read));
  const suspicious = assembly.value !== document.value.value || MAY_HOLD_PROTO.test(source.text);
  const { pipeline, faults } = checkDocument(assembly.value, { ...assembly, suspicious });
  const diagnostics = inFileOrder([...assembly.diagnostics, ...locateFaults(faults, assembly)], source.file);
  if (pipeline === undefined || diagnostics.some(({ severity }) => severity === 'error')) return fail(diagnostics);
  const whole = addEnvironments(pipeline, assembly.value as unknown as RawPipeline);
  const locate = (path: Path) => assembly.locate({ path: whole.writtenAt(path) });
  return ok({ pipeline: whole.pipeline, warnings: diagnostics, locate });
}

/** Also matches underscores written as escapes. */
const MAY_HOLD_PROTO = /__proto__|\\u005f|\\x5f|\\U0000005f/i;
