import { type ContainerService, own } from '@sluice/client';
import { fail, ok, type Result } from '@sluice/core';
import type { RunError, RunReport } from '@sluice/run';
import { publishOutputs } from '@sluice/runner';

/** A run that a server has executed, and that this home has ordered. */
interface PublishHereOptions {
  readonly home: string;
  readonly service: ContainerService;
  /** As its custody says. */
  readonly directories: Readonly<Record<string, string>>;
  readonly onWarning: (message: string) => void;
}

/**
 * Copies the outputs with `publish` to their directories, and returns the report that says so, also of single outputs that
 * could not be copied. Rejected if the outputs of the run cannot be found.
 */
export async function publishHere(
  report: RunReport,
  { onWarning, ...given }: PublishHereOptions,
): Promise<Result<RunReport, RunError>> {
  const { runId } = report;
  const published = await publishOutputs({ ...given, runId });
  if (!published.ok) return fail(describeUnpublished(runId, published.error));
  const outputs = { ...report.outputs };
  for (const { output, directory, warnings, problem } of published.value) {
    for (const warning of warnings) onWarning(`output ${output}: ${warning}`);
    const known = own(outputs, output);
    if (known === undefined) continue;
    const message = `could not copy output ${output} to ${directory}: ${problem}`;
    outputs[output] = { ...known, ...(problem === undefined ? { publishedTo: directory } : { notPublished: message }) };
  }
  return ok({ ...report, outputs });
}

/** Why none of the outputs with `publish` was copied. */
export function describeUnpublished(runId: string, { code, message }: RunError): RunError {
  return { code, message: `could not copy the outputs of run ${runId} to their directories: ${message}` };
}
