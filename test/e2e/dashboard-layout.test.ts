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
import { createWorkplace, type Workplace } from './workplace-rig.ts';

const WINDOW_HEIGHT = 900;

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

  test('graph and timeline are as high as the window, and the selected step covers neither', async () => {
    await runPipeline({ one: { command: ['true'] }, two: { command: ['true'], needs: ['one'] } });
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
    await page.setViewportSize({ width: 400, height: WINDOW_HEIGHT });
    expect((await boxOf(graph)).bottom).toBeLessThan((await boxOf(side)).top);
    expect(await findBarriers(page)).toEqual([]);
    await side.getByRole('button', { name: 'Clear the selection' }).click();
    await side.waitFor({ state: 'detached' });
    expect(problems).toEqual([]);
    await page.close();
  });
});

/** Runs a pipeline of these steps, and serves its home. */
async function runPipeline(steps: object): Promise<void> {
  writeFileSync(join(place.directory, 'pipeline.json'), JSON.stringify({ version: 1, name: 'shown', steps }));
  await place.sluice('run', 'pipeline.json');
  served = await serveDashboard(place.home, { hasService: true });
}

/** The address of the newest run's screen. */
async function runUrl(): Promise<string> {
  return `${served!.url}/#/runs/${(await place.runs())[0]!.runId}`;
}

async function boxOf(locator: Locator) {
  const { x, y, width, height } = (await locator.boundingBox())!;
  return { left: x, top: y, right: x + width, bottom: y + height };
}
