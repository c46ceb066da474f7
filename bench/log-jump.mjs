// Usage: node bench/log-jump.mjs [MEGABYTES]   (after `pnpm build`). Jumps in a long log: in Chromium with the slider, and at the
// API to a line whose place is not known yet, and again. It also measures when the lines have numbers after the first jumps.
import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readdirSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { launchChromium, serveDashboard } from './serve-dashboard.mjs';

const COMMAND = fileURLToPath(new URL('../packages/cli/bin/sluice.js', import.meta.url));
const MIB = 1_048_576;
const JUMPS = 10;
const [megabytes = '1024'] = process.argv.slice(2);

const directory = mkdtempSync(join(tmpdir(), 'sluice-log-jump-'));
const home = join(directory, 'home');
const file = join(directory, 'pipeline.json');
writeFileSync(file, JSON.stringify({ version: 1, name: 'log', steps: { say: { command: ['true'] } } }));
spawnSync(process.execPath, [COMMAND, 'run', file, '--home', home]);
const [runId] = readdirSync(join(home, 'runs'));
const containers = join(home, 'service/clusters/local/containers');
const lines = writeLog(join(containers, readdirSync(containers)[0], 'log'), Number(megabytes));
const served = await serveDashboard(home, { hasService: true });
const browser = await launchChromium();
try {
  const page = await browser.newPage({ viewport: { width: 1_400, height: 900 } });
  await page.goto(`${served.url}/#/runs/${runId}/steps/say/cells/0?tab=log`);
  await page.locator('.line').first().waitFor();
  for (const at of ['first', 'second']) {
    const jumped = await page.evaluate(jumpTo, at === 'first' ? 0.95 : 0.9);
    console.log(
      `the ${at} jump: ${jumped} ms, and ${await page.evaluate(waitForNumbers)} ms later the lines have numbers`,
    );
  }
  const times = [];
  for (let jump = 1; jump <= JUMPS; jump++) times.push(await page.evaluate(jumpTo, ((jump * 7) % 10) / 10));
  times.sort((a, b) => a - b);
  console.log(
    `${megabytes} MiB, ${lines} lines: the page jumps within ${times[JUMPS / 2]} ms (median), ${times.at(-1)} ms (slowest)`,
  );
  for (const at of ['first', 'second']) {
    const begun = performance.now();
    const query = `step=say&line=${Math.round(lines * 0.6)}&count=10`;
    const text = await (await fetch(`${served.url}/api/sluice/v1/runs/${runId}/log?${query}`)).text();
    console.log(`line ${text.slice(0, 12)}: ${Math.round(performance.now() - begun)} ms for the ${at} time`);
  }
} finally {
  await browser.close();
  await served.close();
  rmSync(directory, { recursive: true, force: true });
}

/** Moves the slider of the log, and waits until other lines are drawn. */
async function jumpTo(part) {
  const slider = document.querySelector('.log input[type=range]');
  const before = document.querySelector('.line')?.textContent;
  const begun = performance.now();
  slider.value = String(Math.round(part * Number(slider.max)));
  slider.dispatchEvent(new Event('change', { bubbles: true }));
  const now = () => document.querySelector('.line')?.textContent;
  while (now() === undefined || now() === before) await new Promise((done) => requestAnimationFrame(done));
  return Math.round(performance.now() - begun);
}

/** Waits until the first drawn line has its number, which is also its text. */
async function waitForNumbers() {
  const begun = performance.now();
  const now = () => document.querySelector('.line-number')?.textContent ?? '';
  while (now() === '') await new Promise((done) => requestAnimationFrame(done));
  const line = document.querySelector('.line').textContent;
  if (!line.startsWith(`${now()}${now().padStart(10, '0')} `)) throw new Error(`wrong number: ${line}`);
  return Math.round(performance.now() - begun);
}

/** Replaces a log by numbered lines; returns their number. */
function writeLog(path, size) {
  const log = openSync(path, 'w');
  let line = 0;
  for (let part = 0; part < size; part++) {
    let text = '';
    while (text.length < MIB)
      text += `${String(++line).padStart(10, '0')} the quick brown fox jumps over the lazy dog and reports its progress\n`;
    writeSync(log, text);
  }
  closeSync(log);
  return line;
}
