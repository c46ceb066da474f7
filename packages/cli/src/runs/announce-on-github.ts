import { appendFile } from 'node:fs/promises';
import type { RunReport } from '@sluice/run';
import type { CommandContext } from '../context/command-context.ts';
import { pathInRepository } from '../context/github-actions.ts';
import { printWarning } from '../context/print-warning.ts';
import { renderFailureAnnotations } from '../render/render-failure-annotations.ts';
import { renderStepSummary } from '../render/render-step-summary.ts';
import { locateSteps } from './locate-steps.ts';

/** Annotates the failed steps of a run in a job of GitHub Actions, and adds the run to the summary of the job. */
export async function announceOnGithub(report: RunReport, context: CommandContext): Promise<void> {
  const { terminal, env } = context;
  const locate = await locateSteps(report, context);
  const annotations = renderFailureAnnotations(report, (step) => {
    const range = locate(step);
    return range && { ...range, file: pathInRepository(range.file, context) };
  });
  terminal.out(annotations);
  if (!env.GITHUB_STEP_SUMMARY) return;
  try {
    await appendFile(env.GITHUB_STEP_SUMMARY, renderStepSummary(report));
  } catch (error) {
    printWarning(terminal, `could not write the summary of the job: ${(error as Error).message}`);
  }
}
