import type { Diagnostic } from '../model/diagnostic.ts';
import type { Pipeline } from '../model/pipeline.ts';
import { fail, type Result } from '../model/result.ts';

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
  return fail([{ code: 'unfinished', severity: 'error', message: `could not read ${source.file}` }]);
}
