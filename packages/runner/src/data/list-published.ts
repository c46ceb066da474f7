import path from 'node:path';
import type { Plan } from '@sluice/core';

/** The absolute directories of the outputs with `publish`, by the output, in the order of the plan. */
export function listPublished({ pipeline }: Plan, baseDir: string): Record<string, string> {
  const wanted = Object.entries(pipeline.outputs).flatMap(([name, { publish }]) =>
    publish === undefined ? [] : [[name, path.resolve(baseDir, publish)] as const],
  );
  return Object.fromEntries(wanted);
}
