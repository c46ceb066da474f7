import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { HAS_CHROMIUM, launchChromium, openPage, type ServedDashboard, serveDashboard } from './browser-rig.ts';
import { createWorkplace, until, type Workplace } from './workplace-rig.ts';

/** Nine of the cells of `fit` fail for two reasons, in each of their attempts; `flaky` succeeds in its second one. */
const PIPELINE = `version: 1
name: failing
failFast: false
defaults: { retry: { limit: 1, backoff: { initial: 10ms } } }
steps:
  fit:
    matrix: { seed: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12] }
    script: |
      seq -f 'epoch %g' 200
      printf '\\033[31mERROR: loss is NaN\\033[0m\\n'
      seq -f 'cleanup %g' 5
      test \${{ matrix.seed }} -gt 9 && exit 0
      test \${{ matrix.seed }} = 4 && exit 7
      exit 3
  flaky: { command: 'test "$SLUICE_ATTEMPT" = 2' }
  report: { needs: [fit], command: "true" }
  other: { needs: { flaky: failed }, command: "true" }
`;

let browser: Browser;
let place: Workplace;
let served: ServedDashboard | undefined;

describe.skipIf(!HAS_CHROMIUM && process.env.CI !== 'true')('the page of a run that failed', () => {
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser?.close());
  afterEach(async () => {
    await served?.close();
    place.remove();
  });

  test('shows without a click what failed, why, the ends of the logs and what was skipped', async () => {
    place = createWorkplace();
    writeFileSync(join(place.directory, 'pipeline.yaml'), PIPELINE);
    const run = await place.sluice('run');
    expect(run.exitCode).toBe(1);
    // The terminal groups them in the same way.
    expect(run.stdout).toMatch(/ {2}FAILED +CELLS +ATTEMPT +REASON +WHY\n/);
    expect(run.stdout).toMatch(/ {2}fit\/seed-\d +8 +2 +failed +exit code 3\n/);
    expect(run.stdout).toMatch(/ {2}fit\/seed-4 +1 +2 +failed +exit code 7\n/);
    served = await serveDashboard(place.home, { hasService: true });
    const { page, problems } = await openPage(browser);
    const { runId } = (await place.runs())[0]!;
    await page.goto(`${served.url}/#/runs/${runId}`);
    const panel = page.getByRole('region', { name: '9 failed for 2 reasons' });
    await until(async () => (await page.title()) === '✕ failing failed · Sluice', 'the title');
    const icon = page.locator('link[rel=icon]');
    await until(async () => (await icon.getAttribute('href'))?.startsWith('blob:') === true, 'the icon');
    const [most, four] = ['8 cells exit code 3', 'exit code 7'].map((text) =>
      panel.getByRole('article').filter({ hasText: text }),
    );
    await most!.getByText('ERROR: loss is NaN').waitFor();
    await four!.getByRole('link', { name: 'seed-4', exact: true }).waitFor();
    expect(await four!.locator('pre').textContent()).toMatch(/^(epoch \d+\n){4}ERROR: loss is NaN\n(cleanup \d\n){5}$/);
    await four!.getByText('seed', { exact: true }).waitFor();
    expect(await panel.getByRole('listitem').allTextContents()).toEqual([
      expect.stringMatching(/^report fit\/.* did not succeed$/),
    ]);
    await page.getByText('flaky').first().waitFor();
    expect(await panel.getByText('flaky').count()).toBe(0);
    await page.getByRole('button', { name: 'Rerun what failed' }).waitFor();
    // The log opens at its first error, which is colored.
    await four!.getByRole('link', { name: /^End of the log of seed-4/ }).click();
    const found = page.locator('.line.found');
    await found.waitFor();
    expect(await found.textContent()).toContain('ERROR: loss is NaN');
    await page.getByRole('tab', { name: 'Why' }).click();
    await page.getByRole('tabpanel').getByText('ERROR: loss is NaN').waitFor();
    // A moment of the run, by its address: the whole page is in the past.
    const times = JSON.parse((await place.sluice('show', '--json')).stdout) as { startedAt: string; endedAt: string };
    const [startedAt, endedAt] = [Date.parse(times.startedAt), Date.parse(times.endedAt)];
    const axis = () => page.locator('.axis .track').textContent();
    await page.goto(`${served.url}/#/runs/${runId}`);
    await panel.waitFor();
    const whole = await axis();
    const moment = new Date(startedAt + 1).toISOString();
    await page.goto(`${served.url}/#/runs/${runId}?at=${moment}`);
    await page.getByText('as it was at').waitFor();
    await page.locator('.run-status', { hasText: 'running' }).waitFor();
    expect(await page.locator('.run-head').textContent()).not.toContain('9 failed');
    expect(await panel.count()).toBe(0);
    expect(await axis()).toBe(whole);
    const slider = page.getByRole('slider', { name: 'Time' });
    await slider.fill('500');
    await page.waitForURL((url) => {
      const at = Date.parse(new URLSearchParams(url.hash.split('?')[1]).get('at') ?? '');
      return Math.abs(at - (startedAt + endedAt) / 2) < (endedAt - startedAt) / 100;
    });
    expect(await axis()).toBe(whole);
    await slider.fill('1000');
    await panel.waitFor();
    await page.waitForURL((url) => !url.hash.includes('at='));
    expect(problems).toEqual([]);
    await page.close();
  });
});
