import { type FileHistory, type FileMaker, type FileUse, printableLine } from '@sluice/run';
import type { Terminal } from '../context/terminal.ts';
import { renderTable } from '../text/render-table.ts';
import { renderTimestamp } from '../text/render-timestamp.ts';
import { shortPath } from '../text/short-path.ts';

/** Who wrote a file, who has used it, and what is not known, for people. */
export function renderFileHistory(
  history: FileHistory,
  { terminal, cwd }: { readonly terminal: Terminal; readonly cwd: string },
): string {
  const { runId, step, output, path, sha256, makers, makerCount, uses, useCount, unknown } = history;
  const name = `${step}.${output}${path === undefined ? '' : `/${printableLine(path)}`}`;
  const hash = sha256 === undefined ? '' : `sha256 ${sha256}\n`;
  const moreMakers = makerCount > makers.length ? `  and ${makerCount - makers.length} more cells\n` : '';
  const moreUses = useCount > uses.length ? `  and ${useCount - uses.length} more\n` : '';
  const used =
    uses.length === 0
      ? '  nothing in this home\n'
      : renderTable(
          uses.map((use) => renderUse(use, cwd)),
          60,
        );
  return [
    `${terminal.style('bold', name)} of run ${runId}\n${hash}`,
    `${terminal.style('bold', 'written by')}\n${makers.map(renderMaker).join('')}${moreMakers}`,
    `${terminal.style('bold', 'used by')}\n${used}${moreUses}`,
    `${terminal.style('bold', 'not known')}\n${unknown.map((line) => `  ${printableLine(line)}\n`).join('')}`,
  ].join('');
}

function renderMaker(maker: FileMaker): string {
  const { runId, pipeline, step, cell, attempt, containerId, publishedAt, clusterId, volumeId, path, problem } = maker;
  const of = attempt === undefined ? '' : ` attempt ${attempt}`;
  const container = containerId === undefined ? '' : ` (container ${containerId})`;
  const at = publishedAt === undefined ? '' : `, published ${renderTimestamp(publishedAt)}`;
  const where = `    ${clusterId}/${volumeId}:${printableLine(path)}\n`;
  const why = problem === undefined ? '' : `    ${printableLine(problem)}\n`;
  return `  run ${runId}${pipeline === undefined ? '' : ` of ${pipeline}`}: ${nameOf(step, cell)}${of}${container}${at}\n${where}${why}`;
}

function renderUse({ kind, runId, pipeline, step, cell, name, directory, at }: FileUse, cwd: string): string[] {
  const what = {
    reused: 'reused as',
    mounted: 'mounted by',
    published: 'copied to',
  }[kind];
  const who = directory === undefined ? nameOf(step, cell) : shortPath(directory, cwd);
  const as = kind === 'mounted' ? `as ${name}` : kind === 'published' ? `output ${name}` : '';
  return [`  ${what}`, who, as, `run ${runId} of ${pipeline}`, at === undefined ? '' : renderTimestamp(at)];
}

function nameOf(step: string, cell: string): string {
  return cell === '' ? step : `${step}/${cell}`;
}
