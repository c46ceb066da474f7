import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { renderDuration } from '@sluice/core';
import { createSystemDisk, listRuns, readRunFiles } from '@sluice/home';
import {
  describeTimeSpent,
  type ReplayedRun,
  type RunReportValue,
  replayFiles,
  TIME_PARTS,
  type TimePart,
} from '@sluice/run';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { byteWords } from '../../packages/dashboard/src/parts/byte-words.ts';
import { addStoppedRuns } from './add-stopped-runs.ts';
import { HAS_CHROMIUM, launchChromium, openPage, type ServedDashboard, serveDashboard } from './browser-rig.ts';
import { type ListedRun, parseLines, type Workplace } from './workplace-rig.ts';

/** A run, as its records say it. */
interface Recorded {
  readonly run: ReplayedRun;
  readonly report: RunReportValue;
  readonly tookMs: number;
}

let place: Workplace;
let recorded: readonly Recorded[];

async function readRecords(): Promise<void> {
  await addStoppedRuns(place);
  const disk = createSystemDisk();
  const all: Recorded[] = [];
  for (const { runId } of await listRuns(place.home)) {
    const files = await readRunFiles(disk, place.home, runId);
    const run = files.ok ? replayFiles(files.value) : files;
    if (!run.ok) throw new Error(run.error.message);
    const { facts } = run.value;
    const tookMs = (facts.finished?.at ?? Number.NaN) - facts.startedAt;
    all.push({ run: run.value, report: await place.show(runId), tookMs });
  }
  recorded = all;
}

const ended = () => recorded.filter(({ run }) => run.facts.finished);

/** The number of cells of a step, or of the run, by what people call their status. */
function countStates({ facts, scheduler }: ReplayedRun, step?: number): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { index } of facts.plan.steps) {
    if (step !== undefined && index !== step) continue;
    for (let cell = 0; cell < (scheduler.cellCount(index) ?? 0); cell++) {
      const state = scheduler.state(index, cell);
      const word = { cached: 'reused', errored: 'failed', timedOut: 'failed', awaitingApproval: 'awaiting approval' }[
        state as string
      ];
      counts[word ?? state] = (counts[word ?? state] ?? 0) + 1;
    }
  }
  return counts;
}

/** What a text such as `12 succeeded, 3 running` says. */
function readCounts(text: string): Record<string, number> {
  const parts = [...text.matchAll(/([\d,]*\d) ([a-z ]+?)(?=,|$)/g)];
  return Object.fromEntries(parts.map(([, count, word]) => [word, Number(count!.replaceAll(',', ''))]));
}

/** All text of an element. */
async function textOf(element: Locator): Promise<string> {
  return (await element.textContent()) ?? '';
}

function tookOf({ facts }: ReplayedRun, step: number, cell: number): string {
  const attempts = facts.known[step]?.[cell]?.attempts ?? [];
  const from = attempts.find(({ runningAt }) => runningAt !== undefined)?.runningAt;
  const to = attempts.at(-1)?.endedAt;
  return from === undefined || to === undefined ? '–' : renderDuration(Math.max(0, to - from));
}

function describeCommandLine(): void {
  test('show --json has the attempts, statuses and times of the records', () => {
    expect(recorded.length).toBeGreaterThan(20);
    for (const { run, report } of recorded) {
      const { facts, scheduler } = run;
      expect(report.createdAt).toBe(new Date(facts.header!.at).toISOString());
      expect(report.startedAt).toBe(new Date(facts.startedAt).toISOString());
      expect(report.failures.length).toBe(facts.failures.length);
      for (const [index, { step, cells }] of report.steps.entries()) {
        expect(cells.length, step).toBe(scheduler.cellCount(index) ?? 0);
        for (const { cell: key, attempt, submittedAt, runningAt, endedAt } of cells) {
          const cell = (facts.cells[index] ?? []).findIndex((one) => one.key === key);
          const last = facts.known[index]?.[cell]?.attempts.at(-1);
          if (last === undefined) continue;
          const times = [last.submittedAt, last.runningAt, last.endedAt];
          const shown = [submittedAt, runningAt, endedAt].map((at) => (at === undefined ? undefined : Date.parse(at)));
          expect([attempt, ...shown], `${run.runId} ${step} ${key}`).toEqual([last.attempt, ...times]);
        }
      }
    }
  });

  test('the parts of the time add up to the time of each run, also in report.json', () => {
    for (const { run, report, tookMs } of recorded) {
      const spent = report.timeSpent!;
      const sum = (Object.keys(TIME_PARTS) as TimePart[]).reduce((all, part) => all + spent[`${part}Ms`], 0);
      expect(sum, run.runId).toBe(spent.totalMs);
      if (!run.facts.finished) continue;
      expect(spent.totalMs, run.runId).toBe(tookMs);
      // Written by the process that ended the run, from what it knew itself.
      const written = JSON.parse(readFileSync(join(run.directory, 'report.json'), 'utf8')) as RunReportValue;
      expect(written.timeSpent, run.runId).toEqual(spent);
    }
    const resumed = recorded.find(({ run }) => run.facts.pauses.length > 0 && run.facts.finished);
    expect(resumed?.report.timeSpent?.noExecutorMs).toBeGreaterThan(0);
    const retried = recorded.find(({ report }) => report.pipeline === 'retry');
    expect(retried?.report.timeSpent?.retriesMs).toBeGreaterThan(0);
  });

  test('runs --json, the table of runs and show print the same durations', async () => {
    const listed = parseLines<ListedRun & { counts?: Record<string, number> }>(
      (await place.sluice('runs', '--json')).stdout,
    );
    const table = (await place.sluice('runs', '--all')).stdout.split('\n');
    expect(listed.length).toBe(recorded.length);
    for (const { run, report, tookMs } of ended()) {
      const entry = listed.find(({ runId }) => runId === run.runId)!;
      const { facts } = run;
      expect(entry).toMatchObject({
        status: facts.finished!.status,
        createdAt: new Date(facts.header!.at).toISOString(),
        startedAt: report.startedAt,
        endedAt: new Date(facts.finished!.at).toISOString(),
      });
      const { reused = 0, ...counts } = countStates(run);
      const all = { ...counts, succeeded: (counts.succeeded ?? 0) + reused };
      expect(entry.counts).toEqual(Object.fromEntries(Object.entries(all).filter(([, count]) => count > 0)));
      expect(table.find((line) => line.startsWith(run.runId))).toMatch(new RegExp(` ${renderDuration(tookMs)}$`));
    }
    for (const { run, tookMs } of ended().slice(0, 5)) {
      const text = (await place.sluice('show', run.runId)).stdout;
      expect(text).toContain(
        `time ${describeTimeSpent(recorded.find((one) => one.run === run)!.report.timeSpent!).total}\n`,
      );
      expect(text).toContain(` in ${renderDuration(tookMs)}: `);
    }
  });
}

function describeDashboard(): void {
  let browser: Browser;
  let served: ServedDashboard;
  let page: Page;
  let problems: readonly string[];
  beforeAll(async () => {
    browser = await launchChromium();
    served = await serveDashboard(place.home, { hasService: true });
    ({ page, problems } = await openPage(browser));
  }, 300_000);
  afterAll(async () => {
    await browser?.close();
    await served?.close();
  });
  const go = (hash: string) => page.goto(`${served.url}/#/${hash}`);
  const texts = (selector: string) => page.locator(selector).allTextContents();

  test('the list of runs', async () => {
    await go('');
    for (const { run, tookMs } of ended()) {
      const row = page.locator('.runs tr', { hasText: run.runId });
      await row.waitFor();
      expect(await textOf(row.locator('td.number')), run.runId).toBe(renderDuration(tookMs));
      const { reused = 0, ...counts } = countStates(run);
      const succeeded = (counts.succeeded ?? 0) + reused;
      const shown = readCounts(await textOf(row.locator('.progress small')));
      expect(shown, run.runId).toEqual({ ...counts, ...(succeeded > 0 && { succeeded }) });
    }
  });

  test('the page of each run: duration, counts, failures, cells of each step, and where the time went', async () => {
    for (const { run, report, tookMs } of ended()) {
      await go(`runs/${run.runId}`);
      await page.locator('.run-head .id', { hasText: run.runId }).waitFor();
      await page
        .locator('.row.level-1')
        .nth(run.facts.plan.steps.length - 1)
        .waitFor();
      const head = await textOf(page.locator('.run-head p').first());
      expect(head.split(' · ').at(-1)?.trim(), run.runId).toBe(renderDuration(tookMs));
      expect(readCounts(await textOf(page.locator('.run-progress small'))), run.runId).toEqual(countStates(run));
      const failed = countStates(run).failed ?? 0;
      const titles = await texts('#failures');
      expect(titles.map((title) => title.split(' ')[0])).toEqual(failed > 0 ? [String(failed)] : []);
      const spent = describeTimeSpent(report.timeSpent!);
      expect(await texts('#time-spent')).toEqual([`Time ${spent.total}`]);
      const legend = (await texts('.time-legend > span')).map((text) => text.trim());
      expect(legend).toEqual(spent.parts.map(({ label, duration }) => `${label} ${duration}`));
      const steps = new Map(
        run.facts.plan.steps.map(({ index, step }) => [step.name, run.scheduler.cellCount(index) ?? 0]),
      );
      for (const row of await page.locator('.row.level-1 .row-name').all()) {
        const name = await textOf(row.locator('.name'));
        const cells = /×([\d,]+)/.exec(await textOf(row))?.[1] ?? '1';
        expect(Number(cells.replaceAll(',', '')), `${run.runId} ${name}`).toBe(Math.max(1, steps.get(name) ?? 0));
      }
    }
    expect(problems).toEqual([]);
  });

  test('the page of each step: counts, cells, attempts and durations', async () => {
    for (const { run } of ended()) {
      for (const { index, step } of run.facts.plan.steps) {
        await go(`runs/${run.runId}/steps/${encodeURIComponent(step.name)}`);
        const cells = Math.max(0, run.scheduler.cellCount(index) ?? 0);
        await page.getByRole('heading', { name: `Cells (${cells.toLocaleString('en')})` }).waitFor();
        const where = `${run.runId} ${step.name}`;
        await page.locator('.trail', { hasText: run.runId }).waitFor();
        expect(readCounts(await textOf(page.locator('.run-progress small'))), where).toEqual(countStates(run, index));
        const numbers = await page
          .locator('section:has(#cells) tbody tr')
          .evaluateAll((rows) =>
            rows.map((row) => [...row.querySelectorAll('td.number')].map((cell) => cell.textContent)),
          );
        const keys = (run.facts.cells[index] ?? []).map((_, cell) => [
          String(run.facts.known[index]?.[cell]?.attempts.at(-1)?.attempt ?? 0),
          tookOf(run, index, cell),
        ]);
        expect(numbers.toSorted(), where).toEqual(keys.slice(0, 100).toSorted());
      }
    }
  });

  test('the attempts of the cell of each run that has the most: times, containers and exit codes', async () => {
    for (const { run } of ended()) {
      const { facts } = run;
      const all = facts.known.flatMap((cells, step) => [...cells.keys()].map((cell) => ({ step, cell })));
      const attemptsOf = ({ step, cell }: { step: number; cell: number }) => facts.known[step]?.[cell]?.attempts ?? [];
      const most = all.toSorted((a, b) => attemptsOf(b).length - attemptsOf(a).length)[0];
      if (most === undefined || attemptsOf(most).length === 0) continue;
      const { name } = facts.plan.steps[most.step]!.step;
      await go(`runs/${run.runId}/steps/${encodeURIComponent(name)}/cells/${most.cell}?tab=attempts`);
      const rows = page.locator('table.attempts tbody tr');
      await rows.nth(attemptsOf(most).length - 1).waitFor();
      for (const [index, attempt] of attemptsOf(most).entries()) {
        const [number, queued, ran, , exitCode] = await rows.nth(index).locator('td.number').allTextContents();
        const between = (from?: number, to?: number) =>
          from === undefined || to === undefined ? '–' : renderDuration(Math.max(0, to - from));
        const code = attempt.outcome?.result === 'failed' ? (attempt.outcome.exitCode ?? '–') : '–';
        expect([number, queued, ran, exitCode], `${run.runId} ${name}`).toEqual([
          String(attempt.attempt),
          between(attempt.askedAt ?? attempt.submittedAt, attempt.runningAt),
          between(attempt.runningAt, attempt.endedAt),
          String(code),
        ]);
        expect(await textOf(rows.nth(index).locator('code'))).toBe(attempt.id ?? '–');
      }
    }
  });

  test('the sizes of the files of an output are those of its copy', async () => {
    const { run } = recorded.find(({ report }) => report.pipeline === 'publish')!;
    const copy = join(place.directory, 'examples/publish/results/words/by-length');
    await go(`runs/${run.runId}/data/split/0/output/words/by-length`);
    const files = readdirSync(copy).sort();
    await page.getByRole('link', { name: files[0]!, exact: true }).waitFor();
    const shown = await page
      .locator('main table')
      .first()
      .locator('tbody tr')
      .evaluateAll((rows) =>
        rows.map((row) => [...row.querySelectorAll('td')].slice(0, 2).map((cell) => cell.textContent)),
      );
    expect(shown).toEqual(files.map((name) => [name, byteWords(statSync(join(copy, name)).size)]));
    expect(problems).toEqual([]);
  });
}

/** Holds the numbers that are shown of all runs of a workplace to the records. Tests before it have made the runs. */
export function describeNumbers(open: () => Workplace): void {
  describe('the numbers of every example run', () => {
    beforeAll(async () => {
      place = open();
      await readRecords();
    });
    describe('on the command line', describeCommandLine);
    describe.skipIf(!HAS_CHROMIUM && process.env.CI !== 'true')('in the dashboard', describeDashboard);
  });
}
