import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { type RunReport, runReportValue } from '@sluice/run';
import type { CommandContext } from '../context/command-context.ts';
import { EXIT_CODE, type ExitCode } from '../context/exit-code.ts';
import { isGithubLog } from '../context/github-actions.ts';
import { reject } from '../context/reject.ts';
import { findHome } from '../home/home.ts';
import { renderBlocks } from '../json/render-value.ts';
import type { Progress } from '../render/plain-progress.ts';
import { renderReport } from '../render/render-report.ts';
import { foldForGithub } from '../text/fold-for-github.ts';
import { announceOnGithub } from './announce-on-github.ts';
import type { FollowOptions } from './follow-options.ts';
import { writeJunit } from './write-junit.ts';

/** Ends the display with the report of a run, writes the files that were requested, and returns the exit code. */
export async function showEnd(
  report: RunReport,
  { context, progress, options }: { context: CommandContext; progress: Progress; options: FollowOptions },
): Promise<number> {
  const { terminal, cwd } = context;
  progress.close();
  const isGithub = isGithubLog(context, options);
  const fold = (title: string, text: string) => foldForGithub(title, { text, token: randomUUID() });
  const exitCode = exitCodeOf(report);
  const isSilent = options.quiet === true && exitCode === EXIT_CODE.ok;
  if (options.json !== true && !isSilent) {
    const isHomeGone = !existsSync(findHome(context, options));
    terminal.out(
      `${options.quiet === true ? '' : '\n'}${renderReport(report, { terminal, cwd, options, isHomeGone, ...(isGithub && { fold }) })}`,
    );
  }
  if (options.json === true && options.quiet === true)
    for (const block of renderBlocks('runReport', runReportValue(report))) terminal.out(block);
  if (isGithub) await announceOnGithub(report, context);
  const fault = await writeJunit(report, { context, options });
  if (fault === undefined) return exitCode;
  return reject({ ...fault, exitCode: exitCode === EXIT_CODE.ok ? fault.exitCode : exitCode }, { context, options });
}

/** A run whose outputs were not published as requested counts as failed for a script. */
function exitCodeOf(report: RunReport): ExitCode {
  const isWhole = Object.values(report.outputs).every((output) => output.notPublished === undefined);
  if (report.status === 'succeeded' && isWhole) return EXIT_CODE.ok;
  return report.endedAt === undefined ? EXIT_CODE.suspended : EXIT_CODE.runFailed;
}
