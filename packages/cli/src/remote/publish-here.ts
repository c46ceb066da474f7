import { type ContainerService, own } from '@sluice/client';
import { publishOutputs, type RunReport } from '@sluice/runner';

/** A run that a server has executed, and that this home has handed over. */
interface PublishHereOptions {
  readonly home: string;
  readonly service: ContainerService;
}

/** Copies the outputs with `publish` to their directories, and returns the report that says so. */
export async function publishHere(report: RunReport, { home, service }: PublishHereOptions): Promise<RunReport> {
  const { runId } = report;
  const published = await publishOutputs({ home, runId, service });
  if (!published.ok) return report;
  const outputs = { ...report.outputs };
  for (const { output, directory, problem } of published.value) {
    const known = own(outputs, output);
    if (known === undefined) continue;
    const message = `could not copy output ${output} to ${directory}: ${problem}`;
    outputs[output] = { ...known, ...(problem === undefined ? { publishedTo: directory } : { notPublished: message }) };
  }
  return { ...report, outputs };
}
