// Usage: node bench/screenshots.mjs   (after `pnpm build`). Runs the digits example and writes the pictures of docs/dashboard.md.
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { launchChromium, serveDashboard } from './serve-dashboard.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const IMAGES = join(ROOT, 'docs/images');
const WIDE = { width: 1_200, height: 620 };

const directory = mkdtempSync(join(tmpdir(), 'sluice-pictures-'));
cpSync(join(ROOT, 'examples/digits'), directory, { recursive: true });
mkdirSync(IMAGES, { recursive: true });
const home = join(directory, '.sluice');
const run = spawn(
  process.execPath,
  [join(ROOT, 'packages/cli/bin/sluice.js'), 'run', 'pipeline.yaml', '--home', home],
  {
    cwd: directory,
    stdio: 'ignore',
  },
);
const ended = new Promise((resolve) => run.once('exit', resolve));
const served = await serveDashboard(home);
const browser = await launchChromium();
try {
  const page = await browser.newPage({ viewport: WIDE });
  await page.goto(served.url);
  await page.getByRole('link', { name: 'digits', exact: true }).first().click();
  await page
    .getByText(/[4-9] succeeded/)
    .first()
    .waitFor();
  await page.getByRole('treeitem', { name: 'fit' }).click();
  await page.getByRole('button', { name: 'Show cells' }).click();
  await page
    .getByRole('treeitem', { name: /model-/ })
    .nth(5)
    .waitFor();
  await page.screenshot({ path: join(IMAGES, 'dashboard-run-light.png') });
  await ended;
  const narrow = await browser.newPage({ viewport: { width: 400, height: 760 }, colorScheme: 'dark' });
  await narrow.goto(`${page.url().split('?')[0]}?view=timeline`);
  await narrow.locator('.run-status', { hasText: 'succeeded' }).waitFor();
  await narrow.screenshot({ path: join(IMAGES, 'dashboard-run-narrow.png') });
} finally {
  run.kill();
  await browser.close();
  await served.close();
  rmSync(directory, { recursive: true, force: true });
}
