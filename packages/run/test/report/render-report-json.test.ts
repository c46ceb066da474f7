import { expect, test } from 'vitest';
import { renderReportJson } from '../../src/report/render-report-json.ts';
import { detailedReportValue } from '../../src/report/report-value.ts';
import { createSampleReport } from './sample-report.ts';

test('renderReportJson writes in parts what the whole value is as text', () => {
  const sample = createSampleReport({ steps: 3, logLine: 'say "hi"\n\u{1f600}' });
  const warnings = [{ at: 5, message: 'w' }];
  for (const report of [sample, { ...sample, warnings, steps: [], attempts: [] }]) {
    const parts = [...renderReportJson(report)];
    expect(parts.join('')).toBe(JSON.stringify({ schema: 1, type: 'report', ...detailedReportValue(report) }));
    if (report === sample) expect(parts.length).toBeGreaterThan(report.attempts.length);
  }
});
