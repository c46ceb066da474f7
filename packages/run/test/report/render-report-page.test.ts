import { describe, expect, test } from 'vitest';
import { renderAttemptsCsv } from '../../src/report/render-attempts-csv.ts';
import { renderReportPage } from '../../src/report/render-report-page.ts';
import type { DetailedReport } from '../../src/schemas/run-report.ts';
import { createSampleReport } from './sample-report.ts';

describe('renderReportPage', () => {
  test('escapes whatever comes from outside, in text and in attributes', () => {
    const page = renderReportPage(createSampleReport({ steps: 2, logLine: `"'><b onclick='x'>&\u001b[31m` }));
    expect(page).not.toContain('<b onclick');
    expect(page).toContain('&quot;&#39;&gt;&lt;b onclick=&#39;x&#39;&gt;&amp;');
    expect(page).not.toContain('\u001b');
  });

  test('says which images were known by digest', () => {
    const page = renderReportPage(createSampleReport({ steps: 2, logLine: 'x' }));
    expect(page).toContain('sluice-node:1, by its digest sha256:0123');
    expect(page).toContain('other:&lt;1&gt;, by its name');
  });

  test('needs nothing from elsewhere', () => {
    const page = renderReportPage(createSampleReport({ steps: 2, logLine: 'x' }));
    expect(page).not.toMatch(/<script|<link|<iframe|\bsrc=|\bhref=|url\(|@import/);
    expect(page).toContain('default-src &#39;none&#39;; style-src &#39;unsafe-inline&#39;');
  });

  test('stays small for ten thousand steps, and says what it leaves out', () => {
    const page = renderReportPage(createSampleReport({ steps: 10_000, logLine: 'y'.repeat(5_000) }));
    expect(page.length).toBeLessThan(500_000);
    expect(page).toContain('10000 steps are too many for one graph');
    expect(page).toContain('the 250 longest of 10000 are shown');
    expect(page).toContain('500 of 10000 steps');
    expect(page).toContain('the last 60 of 10000');
  });
});

describe('renderAttemptsCsv', () => {
  test('quotes by RFC 4180 and gives a spreadsheet no formula', () => {
    const [attempt] = createSampleReport({ steps: 1, logLine: 'x' }).attempts;
    const lines = ['=1+1', 'say "hi", twice', 'two\nlines', '-2'].map((message) => ({ ...attempt!, message }));
    const csv = [...renderAttemptsCsv(lines, 0)].join('');
    expect(csv).toContain(`,'=1+1,`);
    expect(csv).toContain(',"say ""hi"", twice",');
    expect(csv).toContain(',"two\nlines",');
    expect(csv).toContain(`,'-2,`);
    expect(csv.endsWith('\r\n')).toBe(true);
  });
});

test('renderReportPage has a grid for axes, of limited size, with failed items first', () => {
  const report = createSampleReport({ steps: 2, logLine: 'x' });
  const names = Array.from({ length: 1_000 }, (_, index) => `item-${index}`);
  const steps = ['a', 'b'].map((step) => ({
    ...{ step, status: 'failed', reason: 'failed', each: ['sample'] },
    cells: names.map((cell) => ({
      ...{ cell, axes: { sample: cell }, attempt: 1, results: {} },
      status: cell === 'item-999' ? 'failed' : 'succeeded',
    })),
  })) as unknown as DetailedReport['steps'];
  const page = renderReportPage({ ...report, steps });
  expect(page).toContain('<h2>Grid</h2>');
  expect(page).toContain('200 of 1000 rows, first those with a failed cell; report.json has all');
  expect(page).toContain('<td>all 1000</td><td>999 succeeded, 1 failed</td>');
  expect(page).toContain('<td>item-198</td>');
  expect(page).not.toContain('<td>item-199</td>');
  expect(page.indexOf('<td>item-999</td><td class="failed">')).toBeLessThan(page.indexOf('<td>item-0</td>'));
  expect(renderReportPage(report)).not.toContain('<h2>Grid</h2>');
});
