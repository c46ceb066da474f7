import { renderDuration } from '@sluice/core';
import { printableLine, type RunReport, tookMs } from '@sluice/run';
import { describeSteps, STEP_COLUMNS } from './describe-steps.ts';
import { describeOthers, type FailureGroup, findFailures } from './find-failures.ts';

/** GitHub rejects summaries of more than 1 MiB. */
const MAX_STEPS = 200;
const MAX_FAILURES = 10;
const MAX_LENGTH = 500;
const TAIL_LINES = 20;

/** A run as Markdown, for the summary of a job of GitHub Actions: its steps, and the ends of the logs of its failures. */
export function renderStepSummary(report: RunReport): string {
  const took = report.endedAt === undefined ? '' : ` in ${renderDuration(tookMs(report, report.endedAt))}`;
  const rows = [STEP_COLUMNS, STEP_COLUMNS.map(() => '---'), ...describeSteps(report.steps.slice(0, MAX_STEPS))];
  const table = rows.map((row, index) => `| ${row.map(index === 1 ? String : escapeMarkdown).join(' | ')} |\n`);
  const failures = findFailures(report);
  return [
    `### ${escapeMarkdown(report.pipeline)} ${report.status}${took}\n\n`,
    report.message === undefined ? '' : `${escapeMarkdown(report.message)}\n\n`,
    table.join(''),
    describeRest(report.steps.length - MAX_STEPS, 'steps'),
    ...failures.slice(0, MAX_FAILURES).map(renderFailure),
    describeRest(failures.length - MAX_FAILURES, 'failures'),
    `\nRun \`${report.runId}\`\n\n`,
  ].join('');
}

function renderFailure(group: FailureGroup): string {
  const { attempt, message, hint, logTail } = group.failure;
  const lines = logTail.slice(-TAIL_LINES).map((line) => printableLine(line).slice(0, MAX_LENGTH));
  const advice = hint === undefined ? '' : `\n${escapeMarkdown(hint)}\n`;
  return `\n**${escapeMarkdown(group.name)}**${describeOthers(group)} attempt ${attempt}: ${escapeMarkdown(message)}\n${advice}${lines.length === 0 ? '' : renderBlock(lines)}`;
}

/** Its fence is longer than any in the text. */
function renderBlock(lines: readonly string[]): string {
  const longest = lines
    .flatMap((line) => line.match(/`+/g) ?? [])
    .reduce((most, { length }) => Math.max(most, length), 2);
  const fence = '`'.repeat(longest + 1);
  return `\n${fence}text\n${lines.map((line) => `${line}\n`).join('')}${fence}\n`;
}

function describeRest(count: number, what: string): string {
  return count > 0 ? `\nand ${count} more ${what}\n` : '';
}

/** Text that Markdown shows as it is. */
function escapeMarkdown(text: string): string {
  return printableLine(text)
    .slice(0, MAX_LENGTH)
    .replace(/[\\`*_{}[\]<>()#+!|~&@]/g, '\\$&');
}
