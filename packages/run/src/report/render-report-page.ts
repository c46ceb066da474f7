import { renderDuration } from '@sluice/core';
import type { DetailedReport } from '../schemas/run-report.ts';
import type { CellStatus } from '../schemas/statuses.ts';
import { type Markup, markup, NOTHING } from './markup.ts';
import { renderGraphSection } from './render-graph-section.ts';
import { renderGridSection } from './render-grid-section.ts';
import {
  renderCriticalPath,
  renderFailures,
  renderImages,
  renderStepTable,
  renderUsage,
  renderValues,
  renderWarnings,
} from './render-tables.ts';
import { renderTimelineSection } from './render-timeline-section.ts';
import { REPORT_STYLE } from './report-style.ts';
import { runBeganAt, tookMs } from './run-times.ts';

/**
 * The report as one self-contained HTML file without scripts and network access, both of which its policy forbids. Its
 * size is bounded for runs of any size.
 */
export function renderReportPage(report: DetailedReport): string {
  const policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
  const style: Markup = { html: REPORT_STYLE };
  const page = markup`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}"><meta name="viewport" content="width=device-width,initial-scale=1"><title>${report.pipeline} ${report.status} (${report.runId})</title><style>${style}</style></head>
<body>${renderHead(report)}${renderFailures(report)}${renderWarnings(report)}${renderGraphSection(report)}${renderGridSection(report)}${renderTimelineSection(report)}${renderCriticalPath(report)}${renderStepTable(report)}${renderUsage(report)}${renderImages(report)}${renderValues(report)}</body></html>
`;
  return page.html;
}

function renderHead(report: DetailedReport): Markup {
  const cells = report.steps.flatMap((step) => step.cells);
  const count = (...statuses: CellStatus[]) =>
    cells.filter(({ status, reused }) => !reused && statuses.includes(status)).length;
  const hours = report.usage.reduce((sum, { instanceHours }) => sum + instanceHours, 0);
  const retries = report.attempts.filter(({ attempt }) => attempt > 1).length;
  const facts: readonly (readonly [string, string])[] = [
    ['took', renderDuration(tookMs(report, report.madeAt))],
    ['steps', String(report.steps.length)],
    ['succeeded', String(count('succeeded'))],
    ['reused', String(cells.filter(({ reused }) => reused).length)],
    ['failed', String(count('failed'))],
    ['skipped or canceled', String(count('skipped', 'canceled'))],
    ['retries', String(retries)],
    ['instance-hours', hours.toFixed(4)],
  ];
  const about = report.description === undefined ? NOTHING : markup`<p>${report.description}</p>`;
  const message = report.message === undefined ? NOTHING : markup`<p><b>${report.message}</b></p>`;
  const began = renderTime(runBeganAt(report));
  const state = report.endedAt === undefined ? `, seen ${renderTime(report.madeAt)}` : '';
  return markup`<h1>${report.pipeline} <span class="badge ${report.status}">${report.status}</span></h1>${about}${message}<p class="soft">run <code>${report.runId}</code>, began ${began}${state}, on ${report.clusterId}</p><div class="facts">${facts.map(([name, value]) => markup`<div><small>${name}</small><b>${value}</b></div>`)}</div>`;
}

function renderTime(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}
