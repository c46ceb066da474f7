// Usage: node bench/dashboard.mjs [STEPS] [CELLS]   (after `pnpm build`). Time to the first picture of a run in Chromium, frames
// a second while the graph is moved, and the heap of the page.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { pipelineOf, SHAPES } from './graphs.mjs';
import { launchChromium, serveDashboard } from './serve-dashboard.mjs';

const COMMAND = fileURLToPath(new URL('../packages/cli/bin/sluice.js', import.meta.url));
const MOVES = 60;
const SETTLE_MS = 1_500;
const [steps = '10000', cells = '100000'] = process.argv.slice(2);

const directory = mkdtempSync(join(tmpdir(), 'sluice-dashboard-'));
const browser = await launchChromium();
try {
  const layered = JSON.parse(pipelineOf(SHAPES.layered(Number(steps))));
  layered.steps.s0.command = ['false'];
  const wide = {
    version: 1,
    name: 'matrix',
    steps: {
      first: { command: ['false'] },
      cells: {
        needs: ['first'],
        command: ['true'],
        matrix: { cell: Array.from({ length: Number(cells) }, (_, i) => i) },
      },
    },
  };
  await measure(`${steps} steps`, layered);
  await measure(`${cells} cells`, wide, async (page) => {
    await page.getByRole('treeitem', { name: 'cells' }).click();
    await page.getByRole('button', { name: 'Show cells' }).click();
  });
} finally {
  await browser.close();
  rmSync(directory, { recursive: true, force: true });
}

/** Runs a pipeline whose first step fails, so that nothing else has to run, and measures its screen. */
async function measure(name, pipeline, prepare = async () => {}) {
  const home = join(directory, name.replaceAll(' ', '-'));
  const file = join(directory, 'pipeline.json');
  writeFileSync(file, JSON.stringify(pipeline));
  const { stderr, error } = spawnSync(process.execPath, [COMMAND, 'run', file, '--home', home], { encoding: 'utf8' });
  if (error) throw new Error(`could not run ${name}: ${stderr}`);
  const [runId] = readdirSync(join(home, 'runs'));
  const served = await serveDashboard(home);
  const page = await browser.newPage({ viewport: { width: 1_400, height: 900 } });
  // The server has read the journal once, as it has of a run that someone watches.
  await fetch(`${served.url}/api/sluice/v1/runs/${runId}`);
  // A new window of Chromium first loads pages of its own, on all processors.
  await page.goto('about:blank');
  await sleep(SETTLE_MS);
  const begun = Date.now();
  await page.goto(`${served.url}/#/runs/${runId}`);
  await page.locator('.graph canvas').waitFor();
  await page.getByRole('treeitem').first().waitFor();
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  const shownMs = Date.now() - begun;
  await prepare(page);
  const frames = await moveGraph(page);
  const heap = await page.evaluate(() => performance.memory.usedJSHeapSize);
  console.log(`${name}: shown after ${shownMs} ms, ${frames} frames a second, heap ${Math.round(heap / 1e6)} MB`);
  await page.close();
  await served.close();
}

/** Frames a second while the pointer drags the graph, once in the whole view and once enlarged. */
async function moveGraph(page) {
  const box = await page.locator('.graph canvas').boundingBox();
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  const rates = [];
  for (const zooms of [0, 8]) {
    for (let i = 0; i < zooms; i++) await page.getByRole('button', { name: 'Zoom in' }).click();
    await page.mouse.move(x, y);
    await page.mouse.down();
    const counted = page.evaluate(
      (count) =>
        new Promise((done) => {
          const begun = performance.now();
          let frames = 0;
          const next = () => {
            frames += 1;
            if (frames < count) requestAnimationFrame(next);
            else done(Math.round((1_000 * frames) / (performance.now() - begun)));
          };
          requestAnimationFrame(next);
        }),
      MOVES,
    );
    for (let i = 0; i < MOVES; i++) await page.mouse.move(x - i * 3, y - (i % 7) * 5);
    rates.push(await counted);
    await page.mouse.up();
  }
  return rates.join(' and ');
}
