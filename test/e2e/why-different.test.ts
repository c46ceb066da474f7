import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StepDifferences } from '@sluice/host';
import { type StepDifference, stepDifference } from '@sluice/run';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  findBarriers,
  HAS_CHROMIUM,
  launchChromium,
  openPage,
  type ServedDashboard,
  serveDashboard,
} from './browser-rig.ts';
import { createWorkplace, type Workplace } from './workplace-rig.ts';

const PIPELINE = `version: 1
name: digits
params: { seed: { type: integer, default: 1 } }
volumes: { code: { source: code } }
steps:
  prepare:
    command: 'echo "$SEED" > /out/data; echo "$SEED" > "$SLUICE_RESULTS/seed"'
    env: { SEED: "\${{ params.seed }}" }
    outputs: { data: /out }
    results: { seed: number }
  fit:
    matrix: { n: [1, 2] }
    command: cat /in/data /code/fit.py
    inputs: { data: { from: prepare.data, path: /in }, code: { from: volumes.code, path: /code } }
  same: { command: "true" }
`;

let place: Workplace;
/** The runs, oldest first. */
let runIds: string[];
let served: ServedDashboard;

beforeAll(async () => {
  place = createWorkplace();
  writeFileSync(join(place.directory, 'pipeline.yaml'), PIPELINE);
  mkdirSync(join(place.directory, 'code'));
  writeFileSync(join(place.directory, 'code/fit.py'), 'print(1)\n');
  expect((await place.sluice('run')).exitCode).toBe(0);
  expect((await place.sluice('run', '-p', 'seed=2')).exitCode).toBe(0);
  writeFileSync(join(place.directory, 'code/fit.py'), 'print(2)\n');
  expect((await place.sluice('run', '-p', 'seed=2')).exitCode).toBe(0);
  runIds = (await place.runs()).map(({ runId }) => runId).reverse();
});

afterAll(() => place?.remove());

test('sluice why --against tells the path to the first cause', async () => {
  const [first = '', second = '', third = ''] = runIds;
  const found = await place.sluice('why', 'fit/n-1', '-r', second, '--against', first.slice(0, 6));
  expect(found).toMatchObject({ exitCode: 0, stderr: '' });
  expect(found.stdout).toBe(
    [
      `fit/n-1 differs from run ${first} because its input 'data' differs: prepare differs: its variable SEED was '1', is '2' (parameter seed)`,
      '',
      '  fit/n-1 differs',
      "    its input 'data' differs",
      '      prepare differs',
      "        its variable SEED was '1', is '2' (parameter seed)",
      '',
    ].join('\n'),
  );
  const source = await place.sluice('why', 'fit', '--against', 'previous');
  expect(source.stdout).toContain(`of the cells of fit, compared with run ${second}, 2 differ; fit/n-1 differs`);
  expect(source.stdout).toMatch(/ {6}fit\.py {2}changed {2}SHA-256 [0-9a-f]{12}… → [0-9a-f]{12}…\n/);
  const json = JSON.parse((await place.sluice('why', 'same', '--against', 'previous', '--json')).stdout);
  expect(json).toMatchObject({ schema: 1, type: 'difference', runId: third, otherRunId: second });
  expect(json.groups).toMatchObject([{ verdict: 'repeated' }]);
  const renamed = await place.sluice('why', 'same', '--against', `${second}/prepare`);
  expect(renamed.stdout).toContain("the name of the step was 'prepare', is 'same'");
  for (const [words, message] of [
    [['nothing', '--against', second], 'has no step nothing'],
    [['fit', '-r', first, '--against', 'previous'], 'could not find an earlier run of digits that has the step fit'],
    [['fit', '--against', 'zzz'], 'could not find'],
  ] as const)
    expect(await place.sluice('why', ...words)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining(message),
    });
});

/** Replays the two compared runs by keyboard, and opens the link to a time of them. */
async function compareTimelines(page: Page): Promise<void> {
  const panel = page.getByRole('region', { name: 'Timelines of both runs' });
  const rows = panel.getByRole('listitem').filter({ has: page.locator('.row-name') });
  await panel.getByRole('link', { name: 'same, run B: succeeded' }).waitFor();
  expect(await rows.locator('.name').allTextContents()).toEqual(['prepare', 'same', 'fit']);
  await panel.getByText('All steps have the same status in both runs.').waitFor();
  await panel.getByRole('link', { name: 'prepare, run A: succeeded, on the critical path' }).waitFor();
  await panel.getByRole('button', { name: 'Show the cells of fit' }).press('Enter');
  await panel.getByRole('link', { name: 'fit/n-2, run B: succeeded' }).waitFor();
  expect(await rows.locator('.name').allTextContents()).toEqual(['prepare', 'same', 'fit', 'n-1', 'n-2']);
  await page.waitForURL(/[?&]unfold=fit(&|$)/);
  await panel.getByRole('slider', { name: 'Time' }).focus();
  await page.keyboard.press('Home');
  await panel.getByRole('link', { name: 'fit, run A: waiting' }).waitFor();
  await panel.getByRole('link', { name: 'fit/n-2, run B: waiting' }).waitFor();
  await page.waitForURL(/[?&]at=0(&|$)/);
  await page.reload();
  await panel.getByText('after 0 ms').waitFor();
  await panel.getByRole('link', { name: 'fit, run A: waiting' }).waitFor();
  await page.emulateMedia({ reducedMotion: 'reduce' });
  const changes = page.evaluate<number[]>(CHANGES);
  await panel.getByRole('button', { name: 'Replay the runs', disabled: false }).press('Enter');
  await panel.getByText('after 0 ms').waitFor({ state: 'hidden' });
  // Twice a second: smoothly, it would change in each frame.
  const [first = 0, ...later] = await changes;
  expect(later.at(-1)! - first).toBeGreaterThan(1_000);
  expect(await findBarriers(page)).toEqual([]);
  await panel.getByRole('slider', { name: 'Time' }).press('End');
  await panel.getByText('latest').waitFor();
  await panel.getByRole('link', { name: 'fit/n-1, run A: succeeded' }).waitFor();
  await panel.getByRole('button', { name: 'Hide the cells of fit' }).press('Enter');
  await panel.getByRole('link', { name: 'fit/n-1, run A: succeeded' }).waitFor({ state: 'detached' });
}

/** Resolves with the times of the first four changes of the shown time, in milliseconds. */
const CHANGES = `new Promise((done) => {
  const times = [];
  const observer = new MutationObserver(() => {
    times.push(performance.now());
    if (times.length < 4) return;
    observer.disconnect();
    done(times);
  });
  const output = document.querySelector('.slider output');
  observer.observe(output, { childList: true, characterData: true, subtree: true });
})`;

/** Finds the cell whose result differs. Durations differ by chance. */
async function compareCells(page: Page, runId: string): Promise<void> {
  const panel = page.getByRole('region', { name: 'Cells that differ' });
  await panel.getByLabel('Difference').selectOption('result');
  await panel.getByText('Cells 1 to 1 of 1, the worst first').waitFor();
  await panel.getByText('seed: 2 in A, 1 in B').waitFor();
  await panel.getByLabel('Step').selectOption('fit');
  await panel.getByText('No cell differs.').waitFor();
  expect(page.url()).toMatch(/cellsOf=fit/);
  await panel.getByLabel('Step').selectOption('all');
  const link = panel.getByRole('link', { name: `prepare in run ${runId}: succeeded` });
  expect(await link.getAttribute('href')).toBe(`#/runs/${runId}/steps/prepare/cells/0`);
}

describe('the run API and the dashboard', () => {
  let browser: Browser | undefined;

  beforeAll(async () => {
    served = await serveDashboard(place.home, { hasService: true });
    if (HAS_CHROMIUM) browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
    await served?.close();
  });

  const get = async (path: string) => {
    const reply = await fetch(`${served.url}/api/sluice/v1/runs/${path}`);
    return { status: reply.status, value: (await reply.json()) as unknown };
  };

  test('compare steps and cells', async () => {
    const [first = '', second = '', third = ''] = runIds;
    const { value } = await get(`${third}/difference?step=fit&cellIndex=1`);
    expect(stepDifference.parse(value)).toMatchObject({ otherRunId: second, cell: 'n-2', cellCount: 1 });
    const [place] = (value as StepDifference).places;
    expect(place!.parts[0]).toMatchObject({ kind: 'source', fileCount: 1, files: [{ path: 'fit.py' }] });
    const whole = await get(`${third}/difference?step=fit&with=${first}`);
    expect(stepDifference.parse(whole.value)).toMatchObject({ cellCount: 2, groups: [{ cellCount: 2 }] });
    const none = await get(`${first}/difference?step=fit`);
    expect(none.value).toMatchObject({ message: 'no earlier run of digits has the step fit', groups: [] });
    expect((await get(`${first}/difference?step=nothing`)).status).toBe(404);
    expect((await get(`${first}/difference?step=fit&with=nothing`)).status).toBe(404);
    const steps = (await get(`${second}/step-differences?with=${first}`)).value as StepDifferences;
    expect(steps.steps.map(({ step, verdict, differentCount }) => [step, verdict, differentCount])).toEqual([
      ['prepare', 'different', 1],
      ['fit', 'different', 2],
      ['same', 'repeated', 0],
    ]);
  });

  test.skipIf(!HAS_CHROMIUM && process.env.CI !== 'true')('show why, with the choice of the run', async () => {
    const [first = '', second = ''] = runIds;
    const { page, problems } = await openPage(browser!);
    await page.goto(`${served.url}/#/runs/${second}/steps/fit/cells/0?tab=why`);
    const panel = page.getByRole('region', { name: 'Why is this different?' });
    await panel.getByText(`fit/n-1 differs from run ${first} because its input 'data' differs`).waitFor();
    await panel.getByText("its variable SEED was '1', is '2' (parameter seed)", { exact: true }).waitFor();
    await panel.getByLabel('with run').selectOption(runIds[2]!);
    await panel.getByText('fit.py was changed').first().waitFor();
    expect(page.url()).toContain(`against=${runIds[2]}`);
    expect(await findBarriers(page)).toEqual([]);
    await panel.getByRole('link', { name: 'compare the files' }).first().click();
    await page.getByText('1 file differs').waitFor();
    await page.goto(`${served.url}/#/compare?run=${first},${second}`);
    const steps = page.getByRole('region', { name: 'Why the steps differ' });
    await steps.getByText('1 step did the same work in both runs.').waitFor();
    await steps.locator('summary').filter({ hasText: 'prepare differs from run' }).first().click();
    await steps.getByRole('link', { name: 'prepare' }).first().waitFor();
    await compareTimelines(page);
    await compareCells(page, second);
    for (const [width, colorScheme] of [
      [1400, 'light'],
      [400, 'dark'],
    ] as const) {
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme });
      expect(await findBarriers(page)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
    }
    expect(problems).toEqual([]);
    await page.close();
  });
});
