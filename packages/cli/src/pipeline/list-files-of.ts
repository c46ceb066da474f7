import type { AxisFiles, Diagnostic, Pipeline } from '@sluice/core';
import { listAxisFiles } from '@sluice/runner';

/** The files of such axes, and what is wrong with their sources. Loaded only for the few pipelines that have any. */
export function listFilesOf(
  pipeline: Pipeline,
  baseDir: string,
): Promise<{ readonly files: AxisFiles; readonly diagnostics: readonly Diagnostic[] }> {
  return listAxisFiles(pipeline, baseDir);
}
