import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Locator } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  findBarriers,
  HAS_CHROMIUM,
  launchChromium,
  openPage,
  type ServedDashboard,
  serveDashboard,
} from './browser-rig.ts';
import { createWorkplace, until, type Workplace } from './workplace-rig.ts';

const WINDOW_HEIGHT = 900;
/** A shorter gap is not marked. */
const MIN_GAP_MS = 1_000;

let browser: Browser;
let place: Workplace;
let served: ServedDashboard | undefined;

describe.skipIf(!HAS_CHROMIUM && process.env.CI !== 'true')('the layout of the dashboard', () => {
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser?.close());
  beforeEach(() => {
    place = createWorkplace();
    served = undefined;
  });
  afterEach(async () => {
    await served?.close();
    place.remove();
  });

  test('graph and timeline are as high as the window, and the selected step covers neither and cuts nothing', async () => {
    const names = ['one', 'two', 'three', 'four', 'five', 'six', 'seven'];
    await runPipeline(
      Object.fromEntries(
        names.map((name, index) => [name, { command: ['true'], needs: names.slice(Math.max(0, index - 1), index) }]),
      ),
    );
    const { page, problems } = await openPage(browser);
    await page.goto(await runUrl());
    const [graph, timeline] = [page.locator('.graph'), page.locator('.timeline')];
    const side = page.getByRole('region', { name: 'Selected step' });
    await graph.locator('canvas').waitFor();
    const { bottom } = await boxOf(graph);
    expect(bottom).toBeGreaterThan(WINDOW_HEIGHT - 60);
    expect(bottom).toBeLessThanOrEqual(WINDOW_HEIGHT);
    await page.getByRole('treeitem', { name: 'two' }).click();
    await side.getByText('after one').waitFor();
    expect((await boxOf(graph)).bottom).toBe(bottom);
    expect((await boxOf(timeline)).right).toBeLessThan((await boxOf(side)).left);
    // The graph is fitted to what the panel leaves: its last step is at the right edge.
    const last = { x: (await boxOf(graph)).right - (await boxOf(graph)).left - 45, y: 46 };
    await until(async () => {
      await graph.locator('canvas').click({ position: last });
      return await side.getByText('after six').isVisible();
    }, 'the last step');
    await page.setViewportSize({ width: 400, height: WINDOW_HEIGHT });
    expect((await boxOf(graph)).bottom).toBeLessThan((await boxOf(side)).top);
    await side.getByRole('button', { name: 'Clear the selection' }).click();
    await side.waitFor({ state: 'detached' });
    expect(problems).toEqual([]);
    await page.close();
  });

  test('the timeline marks gaps and retries, and shows failed cells first', async () => {
    const cells = { command: 'test "$SLUICE_ATTEMPT" = 2 && test ${{ matrix.n }} != 3', matrix: { n: [1, 2, 3] } };
    writePipeline({
      // The command is killed while this step runs, however slow the machine is.
      wait: { command: ['sleep', '20'] },
      many: { needs: ['wait'], retry: { limit: 1, backoff: { initial: '10ms' } }, ...cells },
    });
    const killed = place.start(['run', 'pipeline.json']);
    await until(async () => (await place.runs())[0]?.status === 'running', 'the run');
    const { runId } = (await place.runs())[0]!;
    await until(async () => (await place.show(runId)).steps[0]?.status === 'running', 'its first step');
    killed.process.kill('SIGKILL');
    await killed.ended;
    const killedAt = Date.now();
    await until(() => Date.now() > killedAt + MIN_GAP_MS, 'a gap that is marked');
    expect((await place.sluice('resume')).exitCode).toBe(1);
    served = await serveDashboard(place.home);
    const { page, problems } = await openPage(browser);
    await page.goto(`${await runUrl()}?step=many`);
    await page.getByText(/no process executed the run: 1 gap, at most/).waitFor();
    const wait = page.getByRole('treeitem', { name: 'wait' });
    await wait.locator('.gap').waitFor();
    expect(await wait.locator('.gap').getAttribute('title')).toMatch(/at the earliest, until/);
    await page.getByRole('treeitem', { name: 'many' }).getByText('3 retries').waitFor();
    await page.getByRole('button', { name: 'Show cells' }).click();
    const items = page.locator('.level-2');
    await items.nth(2).waitFor();
    expect((await items.locator('.name').allTextContents()).join()).toMatch(/^n-3,n-1,n-2$/);
    const failed = items.first();
    expect(await failed.locator('.retry').getAttribute('title')).toMatch(/^attempt 2, /);
    const { left, right } = await boxOf(failed.locator('.bar.ran.tone-bad'));
    expect(right - left).toBeGreaterThanOrEqual(8);
    expect(await findBarriers(page)).toEqual([]);
    expect(problems).toEqual([]);
    await page.close();
  });

  test('a group of steps folds and unfolds, by mouse and by keyboard', async () => {
    const part = {
      version: 1,
      name: 'part',
      steps: { a: { command: ['true'] }, b: { needs: ['a'], command: ['false'] } },
    };
    writeFileSync(join(place.directory, 'part.json'), JSON.stringify(part));
    await runPipeline({ first: { command: ['true'] }, big: { uses: 'part.json', needs: ['first'] } });
    const { page, problems } = await openPage(browser);
    await page.goto(await runUrl());
    const rows = page.getByRole('treeitem');
    const names = async () => (await rows.locator('.name').allTextContents()).join();
    await page.getByRole('button', { name: 'Fold groups' }).click();
    await until(async () => (await names()) === 'first,big', 'the folded group');
    await page.getByRole('application', { name: 'Graph of 2 steps' }).waitFor();
    await rows.nth(1).click();
    await page.getByRole('region', { name: 'Selected group' }).getByText('1 failed, 1 succeeded').waitFor();
    expect(await rows.nth(1).getAttribute('aria-expanded')).toBe('false');
    await page.getByRole('tree').focus();
    await page.keyboard.press('ArrowRight');
    await until(async () => (await names()) === 'first,big-a,big-b', 'the unfolded group');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowLeft');
    await until(async () => (await names()) === 'first,big', 'the folded group');
    // A reload keeps it; the graph has keys as well.
    await page.reload();
    await page.getByRole('application', { name: /^Graph of 2 steps, selected: big/ }).focus();
    await page.keyboard.press('f');
    await until(async () => (await names()) === 'first,big-a,big-b', 'the unfolded group');
    await page.getByRole('application', { name: /^Graph of 3 steps/ }).waitFor();
    expect(problems).toEqual([]);
    await page.close();
  });

  test('columns have the width that the browser remembers, and long names two lines', async () => {
    const name = `${'a-long-name-'.repeat(5)}end`;
    await runPipeline({ [name]: { command: ['true'] } });
    const { page, problems } = await openPage(browser);
    const url = await runUrl();
    await page.goto(url);
    const cell = page.locator('.row .row-name');
    await cell.waitFor();
    expect(await cell.getAttribute('title')).toBe(name);
    const widthOf = async () => (await boxOf(cell)).right - (await boxOf(cell)).left;
    const before = await widthOf();
    const handle = page.getByRole('separator', { name: 'Width of the names' });
    await handle.focus();
    for (let i = 0; i < 3; i++) await page.keyboard.press('ArrowRight');
    expect(await widthOf()).toBeCloseTo(before + 48, 0);
    const { left, top } = await boxOf(handle);
    await page.mouse.move(left + 4, top + 4);
    await page.mouse.down();
    await page.mouse.move(left + 36, top + 4);
    await page.mouse.up();
    expect(await widthOf()).toBeCloseTo(before + 80, 0);
    await page.reload();
    await cell.waitFor();
    expect(await widthOf()).toBeCloseTo(before + 80, 0);
    await handle.dblclick();
    expect(await widthOf()).toBeCloseTo(before, 0);
    await page.goto(`${served!.url}/#/`);
    const pipelines = page.getByRole('separator', { name: 'Width of the pipelines' });
    const { right } = await boxOf(pipelines);
    await pipelines.focus();
    await page.keyboard.press('ArrowLeft');
    expect(await pipelines.getAttribute('aria-valuetext')).toMatch(/^\d+ pixels$/);
    expect((await boxOf(pipelines)).right).toBeCloseTo(right - 16, 0);
    expect(problems).toEqual([]);
    await page.close();
  });

  test('on a phone, the graph comes first and the controls fold', async () => {
    await runPipeline({ one: { command: ['false'] }, two: { command: ['true'] } });
    const { page, problems } = await openPage(browser, { width: 400, colorScheme: 'dark' });
    await page.goto(await runUrl());
    const graph = page.locator('.graph');
    await graph.locator('canvas').waitFor();
    const failures = page.getByRole('region', { name: '1 failed' });
    const { top, bottom } = await boxOf(graph);
    expect(top).toBeLessThan(WINDOW_HEIGHT / 3);
    expect(bottom).toBeLessThan((await boxOf(failures)).top);
    const search = page.getByRole('searchbox');
    const rerun = page.getByRole('button', { name: 'Rerun what failed' });
    expect([await search.isVisible(), await rerun.isVisible()]).toEqual([false, false]);
    await page.getByText('Search, time and details').click();
    await search.fill('two');
    await page.getByText('Actions').click();
    await rerun.waitFor();
    expect(await findBarriers(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
    expect(problems).toEqual([]);
    await page.close();
  });

  test('a matrix is a map of its axes, colored by status or a result, for mouse and keyboard', async () => {
    const script = 'test ${{ matrix.model }} != b && echo 0.${{ matrix.n }} > /sluice/results/score';
    const matrix = { model: ['a', 'b'], n: [1, 2, 3] };
    await runPipeline({ fit: { matrix, script, results: { score: 'number' } } });
    const { page, problems } = await openPage(browser);
    const url = await runUrl();
    await page.goto(`${url}/steps/fit`);
    const map = page.getByRole('grid', { name: 'Map of the cells' });
    await map
      .getByRole('link', { name: /: succeeded$/ })
      .nth(2)
      .waitFor();
    expect(await map.getByRole('link', { name: /: failed$/ }).count()).toBe(3);
    await page.getByLabel('Color').selectOption('score');
    const first = map.getByRole('link', { name: 'model-a-n-1: succeeded, score 0.1' });
    await first.waitFor();
    expect(await map.locator('.heat-number').allTextContents()).toEqual(['0.1', '0.2', '0.3']);
    await page.getByText('score: from 0.1 (pale) to 0.3 (strong)').waitFor();
    await map.getByText('0.3').hover();
    await page.getByText('model-a-n-3: succeeded, score 0.3').waitFor();
    await first.focus();
    for (const key of ['ArrowRight', 'ArrowDown', 'ArrowDown']) await page.keyboard.press(key);
    await page.getByText('model-b-n-2: failed').waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: /^fit \/ model-b-n-2/ }).waitFor();
    await page.goto(`${url.replace('runs/', 'compare?run=')}&step=fit`);
    await page.getByRole('img', { name: 'score by cell, 3 points' }).locator('canvas').waitFor();
    expect(problems).toEqual([]);
    await page.close();
  });

  test('a line of a log has a link, long lines wrap, and keys open the help and close panels', async () => {
    const script = 'seq -f line-%.0f 50; printf "%01000d\\n" 7; echo "error: no data"; exit 3';
    await runPipeline({ say: { script } });
    const { page, problems } = await openPage(browser);
    const url = await runUrl();
    await page.goto(`${url}?step=say`);
    const side = page.getByRole('region', { name: 'Selected step' });
    await side.waitFor();
    await page.locator('body').press('?');
    const help = page.getByRole('dialog', { name: 'Keyboard' });
    await help.getByText('this help').waitFor();
    await page.keyboard.press('Escape');
    await help.waitFor({ state: 'hidden' });
    await side.waitFor();
    // Another screen, such as that of a link in the browser's history, closes it as well.
    await page.locator('body').press('?');
    await help.getByText('this help').waitFor();
    await page.goto(`${url}?step=say&hide=finished`);
    await help.waitFor({ state: 'hidden' });
    await page.goto(`${url}?step=say`);
    await page.keyboard.press('Escape');
    await side.waitFor({ state: 'detached' });
    expect(await page.locator('.run-head time').getAttribute('title')).toMatch(/UTC[+-]\d\d:\d\d \(/);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Copy the error' }).click();
    await page.getByRole('button', { name: 'Copied the error' }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe('exit code 3');
    // The end of the log leads to the error in it.
    await page.getByRole('link', { name: /^End of the log/ }).click();
    const found = page.locator('.line.found');
    await found.filter({ hasText: 'error: no data' }).waitFor();
    expect(page.url()).toContain('line=-1');
    await page.getByRole('link', { name: 'Link to line 52' }).click();
    await page.waitForURL(/line=52/);
    const wide = page.locator('.line').filter({ hasText: /0007$/ });
    const heightOf = async () => (await boxOf(wide)).bottom - (await boxOf(wide)).top;
    const before = await heightOf();
    await page.getByRole('button', { name: 'Wrap' }).click();
    await until(async () => (await heightOf()) >= 3 * before, 'the wrapped line');
    await page.goto(`${url}/steps/say/cells/0?tab=log&attempt=1&line=7`);
    await found.filter({ hasText: 'line-7' }).waitFor();
    expect(problems).toEqual([]);
    await page.close();
  });

  test('a notification tells of the end of a run, if the user has asked for it', async () => {
    writePipeline({ wait: { command: ['sleep', '600'] } });
    const run = place.start(['run', 'pipeline.json']);
    await until(async () => (await place.runs())[0]?.status === 'running', 'the run');
    served = await serveDashboard(place.home);
    const { page, problems } = await openPage(browser);
    await page.context().grantPermissions(['notifications']);
    // The browser shows it outside of the page.
    await page.addInitScript(() => {
      const shown: string[] = [];
      class Recorded {
        static readonly requestPermission = async () => 'granted';
        constructor(title: string) {
          shown.push(title);
        }
      }
      Object.assign(globalThis, { shown, Notification: Recorded });
    });
    await page.goto(await runUrl());
    const button = page.getByRole('button', { name: 'Notify me' });
    await button.click();
    await until(async () => (await button.getAttribute('aria-pressed')) === 'true', 'the pressed button');
    expect(await page.evaluate('shown')).toEqual([]);
    await place.sluice('cancel', (await place.runs())[0]!.runId);
    await run.ended;
    await page.locator('.run-status', { hasText: 'canceled' }).waitFor();
    await until(async () => ((await page.evaluate('shown')) as string[]).length > 0, 'the notification');
    expect(await page.evaluate('shown')).toEqual(['shown canceled']);
    await button.waitFor({ state: 'detached' });
    expect(problems).toEqual([]);
    await page.close();
  });
});

/** Runs a pipeline of these steps, and serves its home. */
async function runPipeline(steps: object): Promise<void> {
  writePipeline(steps);
  await place.sluice('run', 'pipeline.json');
  served = await serveDashboard(place.home, { hasService: true });
}

function writePipeline(steps: object): void {
  const pipeline = { version: 1, name: 'shown', failFast: false, steps };
  writeFileSync(join(place.directory, 'pipeline.json'), JSON.stringify(pipeline));
}

/** The address of the newest run's screen. */
async function runUrl(): Promise<string> {
  return `${served!.url}/#/runs/${(await place.runs())[0]!.runId}`;
}

async function boxOf(locator: Locator) {
  const { x, y, width, height } = (await locator.boundingBox())!;
  return { left: x, top: y, right: x + width, bottom: y + height };
}
