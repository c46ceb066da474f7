import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseJournal } from '@sluice/home';
import { type DetailedReportValue, renderReportPage } from '@sluice/run';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createHandPlan, createStep } from '../../../run/test/plans.ts';
import { createSampleReport } from '../../../run/test/report/sample-report.ts';
import { startRun } from '../../src/run/start-run.ts';
import { createRig, type Rig } from '../simulation/rig.ts';

const need = (step: string) => ({ step, condition: 'succeeded' as const });

async function runRetries(): Promise<{ rig: Rig; directory: string }> {
  const plan = createHandPlan([
    createStep('a'),
    createStep('b', { needs: [need('a')], retry: { ...createStep('b').retry, limit: 1 } }),
    createStep('c', { needs: [need('b')] }),
  ]);
  const rig = createRig('report', { behave: { b: { end: 'Failed', exitCode: 3 } } });
  const started = await rig.go(startRun({ ...rig.options, plan, baseDir: '/base' }));
  if (!started.ok) throw new Error(started.error.message);
  await rig.go(started.value.finished);
  return { rig, directory: started.value.directory };
}

const renderTime = (at: number) => new Date(at).toISOString();

async function readText(rig: Rig, file: string): Promise<string> {
  const bytes = await rig.go(rig.options.disk!.read(file));
  return Buffer.from(bytes ?? []).toString('utf8');
}

describe('the report at the end of a run', () => {
  test('says of every attempt what the journal says', async () => {
    const { rig, directory } = await runRetries();
    const report = JSON.parse(await readText(rig, path.join(directory, 'report.json'))) as DetailedReportValue;
    const bytes = (await rig.go(rig.options.disk!.read(path.join(directory, 'journal.ndjson')))) ?? new Uint8Array();
    const journal = parseJournal(bytes);
    if (!journal.ok) throw new Error(journal.error);
    const told = journal.value.records.flatMap((record) => {
      if (record.kind === 'intent') return [['requestedAt', record.step, record.attempt, renderTime(record.at)]];
      if (record.kind !== 'event' || !('attempt' in record.event)) return [];
      const { type, step, attempt, at } = record.event;
      const began = record.event.type === 'running' ? record.event.since : undefined;
      return [
        [
          { submitted: 'submittedAt', running: 'runningAt', ended: 'endedAt', published: 'publishedAt' }[
            type as string
          ],
          step,
          attempt,
          renderTime(began ?? at),
        ],
      ];
    });
    const names = ['a', 'b', 'c'];
    const shown = report.attempts.flatMap((attempt) =>
      (['requestedAt', 'submittedAt', 'runningAt', 'endedAt', 'publishedAt'] as const).flatMap((key) =>
        attempt[key] === undefined ? [] : [[key, names.indexOf(attempt.step), attempt.attempt, attempt[key]]],
      ),
    );
    const sorted = (entries: unknown[][]) => entries.map((entry) => JSON.stringify(entry)).sort();
    expect(sorted(shown)).toEqual(sorted(told));
    expect(report.attempts.map(({ step, attempt, status }) => `${step} ${attempt} ${status}`)).toEqual([
      'a 1 succeeded',
      'b 1 failed',
      'b 2 failed',
    ]);
    const [a, b1, b2] = report.attempts;
    expect(b1?.readyAt).toBe(a?.endedAt);
    expect(b2?.readyAt).toBe(b1?.endedAt);
    expect(report.criticalPath.map(({ step }) => step)).toEqual(['a', 'b']);
    expect(report.usage).toMatchObject([{ containers: 3 }]);
    expect(report).toMatchObject({ schema: 1, type: 'report', status: 'failed', dependencies: [[], [0], [1]] });
  });

  test('takes what was canceled while it waited neither for a failure nor for a use of instances', async () => {
    const rig = createRig('report-canceled', { behave: { slow: { pendingMs: 3_600_000 } } });
    const plan = createHandPlan([createStep('slow')]);
    const started = await rig.go(startRun({ ...rig.options, plan, baseDir: '/base' }));
    if (!started.ok) throw new Error(started.error.message);
    await rig.until(() => rig.created().some(({ wire }) => wire.phase === 'Pending'));
    started.value.cancel('a test');
    await rig.go(started.value.finished);
    const { directory } = started.value;
    const report = JSON.parse(await readText(rig, path.join(directory, 'report.json'))) as DetailedReportValue;
    expect(report.attempts).toMatchObject([{ status: 'canceled', submittedAt: expect.stringMatching(/Z$/) }]);
    expect(report.usage).toMatchObject([{ containers: 1, ranMs: 0, instanceHours: 0 }]);
    expect(await readText(rig, path.join(directory, 'report.html'))).not.toContain('Failed attempts');
  });

  test('has one line of CSV per attempt, with the same times', async () => {
    const { rig, directory } = await runRetries();
    const report = JSON.parse(await readText(rig, path.join(directory, 'report.json'))) as DetailedReportValue;
    const [head, ...lines] = (await readText(rig, path.join(directory, 'attempts.csv'))).trimEnd().split('\r\n');
    const names = head!.split(',');
    const rows = lines.map((line) => Object.fromEntries(line.split(',').map((value, index) => [names[index], value])));
    expect(rows).toHaveLength(report.attempts.length);
    for (const [index, row] of rows.entries()) {
      const attempt = report.attempts[index]!;
      expect([row.step, Number(row.attempt), row.status]).toEqual([attempt.step, attempt.attempt, attempt.status]);
      expect(row.endedAt).toBe(attempt.endedAt);
      expect(Number(row.ranSeconds) * 1000).toBeCloseTo(
        Date.parse(attempt.endedAt!) - Date.parse(attempt.runningAt!),
        3,
      );
    }
  });

  const hasChromium = spawnSync('chromium', ['--version']).status === 0;

  test.skipIf(!hasChromium && process.env.CI !== 'true')(
    'opens from disk in Chromium, and runs nothing that a log says',
    () => {
      const directory = mkdtempSync(path.join(tmpdir(), 'sluice-report-'));
      onTestFinished(() => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }));
      const evil = `</pre><script>document.body.innerHTML='taken'</script><img src=x onerror="document.body.innerHTML='taken'">`;
      const report = createSampleReport({ steps: 3, logLine: evil });
      const file = path.join(directory, 'report.html');
      writeFileSync(file, renderReportPage(report));
      const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run'];
      const profile = `--user-data-dir=${path.join(directory, 'profile')}`;
      const dom = execFileSync('chromium', [...flags, profile, '--dump-dom', `file://${file}`], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      expect(dom.match(/<h2>[^<]*/g)).toEqual(
        [
          'Failed attempts',
          'Graph',
          'Timeline',
          'Critical path',
          'Steps',
          'Instance usage',
          'Images',
          'Parameters and results',
        ].map((title) => `<h2>${title}`),
      );
      expect(dom).toContain('&lt;script&gt;');
      expect(dom).not.toMatch(/<script|<img|<body>taken/);
      expect(dom.match(/class="node"/g)).toHaveLength(3);
    },
  );
});
