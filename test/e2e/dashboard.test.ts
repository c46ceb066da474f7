import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createRunId } from '@sluice/home';
import type { JournalLine } from '@sluice/run';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { encodeLine } from '../../packages/home/src/journal/line-codec.ts';
import { HAS_CHROMIUM, launchChromium, openPage, type ServedDashboard, serveDashboard } from './browser-rig.ts';
import { createWorkplace, type Started, until, type Workplace } from './workplace-rig.ts';

const ATTACK = '<img src=x onerror="globalThis.attacked=1"><script>globalThis.attacked=1</script>';

let browser: Browser;
let place: Workplace;
let served: ServedDashboard | undefined;
let started: Started | undefined;

describe.skipIf(!HAS_CHROMIUM && process.env.CI !== 'true')('the dashboard in Chromium', () => {
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser?.close());
  beforeEach(() => {
    served = undefined;
    started = undefined;
  });
  afterEach(async () => {
    started?.process.kill('SIGKILL');
    await started?.ended;
    await served?.close();
    place.remove();
  });

  test('a home without runs shows how to begin, and the first run appears by itself', async () => {
    place = createWorkplace('digits');
    served = await serveDashboard(place.home);
    const { page, problems } = await openPage(browser);
    await page.goto(served.url);
    await page.getByText('This home has no runs yet').waitFor();
    started = place.start(['run', 'pipeline.yaml']);
    await page.getByRole('link', { name: 'digits', exact: true }).first().click();
    await page.getByRole('treeitem').nth(5).waitFor();
    await page.getByText('17 succeeded').first().waitFor();
    await page.locator('.run-status', { hasText: 'succeeded' }).waitFor();
    expect((await started.ended).exitCode).toBe(0);
    // The cells of a step, by keyboard.
    await page.getByRole('tree').focus();
    for (const key of ['Home', 'ArrowDown', 'ArrowRight', 'ArrowDown']) await page.keyboard.press(key);
    await page
      .getByRole('treeitem', { name: /model-/ })
      .nth(5)
      .waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: /^fit \// }).waitFor();
    expect(problems).toEqual([]);
    await page.close();
  });

  test('an approval by keyboard', async () => {
    place = createWorkplace('approval');
    started = place.start(['run', 'pipeline.yaml']);
    served = await serveDashboard(place.home);
    const { page, problems } = await openPage(browser);
    await page.goto(served.url);
    const waiting = page.getByRole('region', { name: 'Action required' });
    await waiting.getByText('Release version 1.4.0?').waitFor();
    const link = waiting.getByRole('link', { name: 'approval' });
    await link.focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog');
    const approve = async () => {
      await page.getByRole('button', { name: 'Approve' }).focus();
      await page.keyboard.press('Enter');
      await dialog.getByText(/sluice approve/).waitFor();
      await dialog.getByRole('button', { name: 'Approve' }).focus();
      await page.keyboard.press('Enter');
    };
    const asked = page.getByRole('region', { name: 'Approval release' });
    await asked.getByText('Release version 1.4.0?').waitFor();
    await asked.getByText('releases publish').waitFor();
    await asked.getByText('It was approved in none of the last 10 runs.').waitFor();
    await approve();
    expect((await started.ended).exitCode).toBe(0);
    await page.keyboard.press('Escape');
    await page.locator('.run-status', { hasText: 'succeeded' }).waitFor();
    await asked.waitFor({ state: 'detached' });
    // The next version, approved in the list of runs.
    const file = join(place.directory, 'pipeline.yaml');
    writeFileSync(file, readFileSync(file, 'utf8').replace('echo 1.4.0', 'echo 1.5.0'));
    started = place.start(['run', 'pipeline.yaml']);
    await page.goto(`${served.url}/#/`);
    await waiting.getByText('Release version 1.5.0?').waitFor();
    await waiting.getByRole('link', { name: 'release' }).click();
    for (const text of [/2 changes since it was approved in run/, 'result build.version', '"1.4.0"', '"1.5.0"'])
      await asked.getByText(text, { exact: typeof text === 'string' }).waitFor();
    expect((await place.sluice('why', 'release')).stdout).toContain('result build.version: "1.4.0" -> "1.5.0"');
    const compared = await openPage(browser);
    const ids = (await place.runs()).map(({ runId }) => runId).join();
    await compared.page.goto(`${served.url}/#/compare?run=${ids}`);
    const difference = compared.page.getByText('awaiting approval in A, succeeded in B');
    await difference.waitFor();
    await page.goto(`${served.url}/#/`);
    await approve();
    expect((await started.ended).exitCode).toBe(0);
    await waiting.waitFor({ state: 'detached' });
    // The comparison follows the run.
    await difference.waitFor({ state: 'detached' });
    await compared.page.locator('.comparison .run-status[title=succeeded]').nth(1).waitFor();
    await compared.page.close();
    await dialog.getByRole('button', { name: 'Close' }).click();
    expect([...problems, ...compared.problems]).toEqual([]);
    await page.close();
  });

  test('a page continues after its server was gone, and misses nothing', async () => {
    place = createWorkplace('approval');
    started = place.start(['run', 'pipeline.yaml']);
    served = await serveDashboard(place.home);
    const port = Number(new URL(served.url).port);
    const { page, problems } = await openPage(browser);
    await page.goto(served.url);
    const link = page.getByRole('region', { name: 'Action required' }).getByRole('link', { name: 'approval' });
    await link.waitFor();
    // Connections end without a reply, as when the server is killed.
    await served.close();
    const lost = page.getByText('The connection is lost');
    await lost.waitFor();
    // A run that cannot be loaded now is shown when the server is there again.
    await link.click();
    await page.waitForURL(/runs/);
    await lost.waitFor();
    served = await serveDashboard(place.home, { port });
    await page.locator('.run-status', { hasText: 'running' }).waitFor();
    await served.close();
    await lost.waitFor();
    const { runId } = (await place.runs())[0]!;
    expect(await place.sluice('approve', '-r', runId, 'release')).toMatchObject({ exitCode: 0 });
    expect((await started.ended).exitCode).toBe(0);
    served = await serveDashboard(place.home, { port });
    await page.locator('.run-status', { hasText: 'succeeded' }).waitFor();
    await lost.waitFor({ state: 'detached' });
    expect(problems).toEqual([]);
    await page.close();
  });

  test('a cancellation by mouse', async () => {
    place = createWorkplace();
    writeFileSync(
      join(place.directory, 'long.yaml'),
      'version: 1\nname: long\nsteps: { wait: { command: [sleep, "600"] } }\n',
    );
    started = place.start(['run', 'long.yaml']);
    served = await serveDashboard(place.home);
    const { page, problems } = await openPage(browser);
    await page.goto(served.url);
    await page.getByRole('link', { name: 'long', exact: true }).first().click();
    await page.getByRole('button', { name: 'Cancel', exact: true }).click();
    await page.getByText(/sluice cancel/).waitFor();
    await page.getByRole('button', { name: 'Cancel the run' }).click();
    await started.ended;
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
    await page.locator('.run-status', { hasText: 'canceled' }).waitFor();
    expect(problems).toEqual([]);
    await page.close();
  });

  test('a rerun from a step with `sluice ui`, whose link signs in', async () => {
    place = createWorkplace();
    const file =
      'version: 1\nname: twice\nsteps: { one: { command: ["true"] }, two: { command: ["true"], needs: [one] } }\n';
    writeFileSync(join(place.directory, 'pipeline.yaml'), file);
    await place.sluice('run', 'pipeline.yaml');
    const { runId } = (await place.runs())[0]!;
    started = place.start(['ui', '--listen', '127.0.0.1:0', '--json'], { isEndless: true });
    await until(() => started!.stdout().includes('\n'), 'the link');
    const { url } = JSON.parse(started.stdout().split('\n')[0]!) as { url: string };
    const { page, problems } = await openPage(browser);
    await page.goto(url);
    await page.getByRole('link', { name: 'twice', exact: true }).first().click();
    await page.getByRole('treeitem', { name: 'two' }).click();
    await page.getByRole('button', { name: 'Rerun from here' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText(/Run \(1\): ?two/).waitFor();
    await dialog.getByText(/sluice rerun/).waitFor();
    await dialog.getByText(/Time saved: about \d+/).waitFor();
    const graph = dialog.getByRole('application');
    await graph.focus();
    await page.keyboard.press('ArrowRight');
    await dialog.getByText('one is reused', { exact: true }).waitFor();
    await page.keyboard.press('ArrowRight');
    await dialog.getByText('two is run: a rerun was requested', { exact: true }).waitFor();
    await dialog.getByRole('button', { name: 'Rerun' }).click();
    await dialog.getByRole('link').click();
    await page.getByText('1 succeeded, 1 reused').first().waitFor();
    expect(page.url()).not.toContain(runId);
    expect(problems).toEqual([]);
    await page.close();
  });

  test('a backfill, a submission and a rerun with parameters by keyboard and mouse, with `sluice ui`', async () => {
    place = createWorkplace();
    const files = {
      'nightly.yaml':
        'version: 1\nname: nightly\nschedule: { cron: "30 2 * * *", timezone: UTC, overlap: skip, catchup: none }\nsteps: { one: { command: "true" } }\n',
      'greet.yaml':
        'version: 1\nname: greet\nlabels: { team: ops }\nparams: { who: { type: string } }\nsteps:\n  greet: { matrix: { n: [1, 2] }, command: "echo ${{ params.who }}; echo ${{ matrix.n }} > /sluice/results/size", results: { size: number } }\n',
    };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(place.directory, name), text);
    await place.sluice('schedule', 'run', '--once', 'nightly.yaml');
    // As if it had been watched since then.
    const watchedFile = join(place.home, 'schedules/nightly/watched.json');
    const watched = JSON.parse(readFileSync(watchedFile, 'utf8')) as object;
    writeFileSync(watchedFile, JSON.stringify({ ...watched, first: Date.parse('2025-01-15') }));
    started = place.start(['ui', '--listen', '127.0.0.1:0', '--json'], { isEndless: true });
    await until(() => started!.stdout().includes('\n'), 'the link');
    const { url } = JSON.parse(started.stdout().split('\n')[0]!) as { url: string };
    const { page, problems } = await openPage(browser);
    const dialog = page.getByRole('dialog');
    await page.goto(url);
    await page.getByText('This home has no runs yet').waitFor();
    // The link has led to the place of the session.
    const session = new URL('./', page.url()).href;
    await page.goto(`${session}#/schedules/nightly`);
    const today = new Date().toISOString().slice(0, 'YYYY-MM-DD'.length);
    await page.getByRole('region', { name: today }).waitFor();
    await page.goto(`${session}#/schedules/nightly?month=2025-01&day=2025-01-14`);
    await page.getByRole('region', { name: '2025-01-14' }).getByText('No planned times.').waitFor();
    const day = `${session}#/schedules/nightly?month=2025-01&day=2025-01-15`;
    await page.goto(day);
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await dialog.getByText(/sluice schedule backfill 2025-01-15T02:30/).waitFor();
    await dialog.getByRole('button', { name: 'Backfill' }).click();
    await dialog.getByRole('button', { name: 'Close' }).click();
    // Meanwhile, the schedule notices the backfill.
    await page.getByRole('link', { name: 'Sluice' }).click();
    await page.getByRole('button', { name: 'Run a pipeline' }).focus();
    await page.keyboard.press('Enter');
    await page.getByLabel('File').selectOption({ label: 'greet.yaml (greet)' });
    await page.getByLabel('who').fill('ada');
    // What the server rejects leads back to the form as it was filled in.
    await page.keyboard.press('Enter');
    await dialog.getByRole('button', { name: 'Back' }).click();
    expect(await page.getByLabel('who').inputValue()).toBe('ada');
    await page.getByLabel('who').focus();
    await page.keyboard.press('Enter');
    await dialog.getByText(/sluice run .*greet.yaml --detach -p who=ada/).waitFor();
    await dialog.getByRole('button', { name: 'Run', exact: true }).click();
    await dialog.getByRole('link').click();
    await page.locator('.run-status', { hasText: 'succeeded' }).waitFor();
    await page.getByRole('button', { name: 'Rerun with parameters' }).click();
    await page.getByLabel('who').fill('bob');
    await page.keyboard.press('Enter');
    await dialog.getByText(/sluice rerun .*-p who=bob/).waitFor();
    await page.keyboard.press('Escape');
    const runId = /runs\/(\w+)/.exec(page.url())![1]!;
    await page.goto(`${session}#/compare?run=${runId}&step=greet&y=size&x=n`);
    await page.getByRole('img', { name: 'size by n, 2 points' }).locator('canvas').waitFor();
    await page.goto(`${session}#/?q=${encodeURIComponent('team=ops')}`);
    await page.getByRole('link', { name: 'greet', exact: true }).first().waitFor();
    await page.goto(day);
    await page.getByRole('region', { name: '2025-01-15' }).getByText('succeeded').waitFor();
    expect(problems).toEqual([]);
    await page.close();
  });

  test('a run with axes has a grid: a failed row leads to its cells and their logs', async () => {
    place = createWorkplace();
    const file = `version: 1
name: samples
failFast: false
axes: { sample: [S1, S2, S3], caller: [b, f] }
steps:
  align: { each: sample, script: 'echo reads of \${{ each.sample }}; test \${{ each.sample }} != S2; echo > /out/bam/x', outputs: [bam] }
  sort: { each: sample, inputs: { bam: align.bam }, script: 'echo sorted; echo > /out/bam/y', outputs: [bam] }
  call: { each: [sample, caller], inputs: { bam: sort.bam }, script: 'true' }
`;
    writeFileSync(join(place.directory, 'pipeline.yaml'), file);
    expect((await place.sluice('run')).exitCode).toBe(1);
    served = await serveDashboard(place.home, { hasService: true });
    const { page, problems } = await openPage(browser);
    await page.goto(served.url);
    await page.getByRole('link', { name: 'samples', exact: true }).first().click();
    await page.getByRole('button', { name: 'Grid' }).click();
    const rows = page.getByRole('list', { name: 'Rows of the grid' }).getByRole('button');
    await rows.nth(2).waitFor();
    expect((await rows.allTextContents()).map((text) => text.replaceAll(/[^\w/]/g, ' '))).toEqual([
      'S1 succeeded succeeded succeeded 2/2',
      'S2 failed skipped skipped 2/2',
      'S3 succeeded succeeded succeeded 2/2',
    ]);
    await page.getByText('3 rows, 1 with a failed cell').waitFor();
    await page.getByLabel('Only failed').check();
    await until(async () => (await rows.count()) === 1, 'the only failed row');
    await rows.first().click();
    const chain = page.getByRole('region', { name: 'Cells of S2' });
    await chain.getByRole('log').getByText('reads of S2').waitFor();
    expect(await chain.getByRole('link', { name: /S2/ }).allTextContents()).toEqual([
      'align/S2',
      'sort/S2',
      'call/S2,b',
      'call/S2,f',
    ]);
    await page.getByLabel('Only failed').uncheck();
    await rows.first().click();
    for (const step of ['align', 'sort']) await page.getByRole('button', { name: `Log of ${step}/S1` }).click();
    for (const text of ['reads of S1', 'sorted'])
      await page.getByRole('region', { name: 'Cells of S1' }).getByText(text).waitFor();
    await page.getByRole('combobox').selectOption('sample,caller');
    await rows.nth(5).waitFor();
    expect(problems).toEqual([]);
    await page.close();
  });

  test('a log looks as in a terminal, and a name that is not UTF-8 hides no other', async () => {
    place = createWorkplace();
    const script = [
      "printf '10%%\\r50%%\\r100%%\\n'",
      "printf '\\033[48;2;10;20;30mdark\\033[0m\\n'",
      "printf 'a\\342\\200\\256b\\n'",
      'touch /out/files/plain',
      'echo "$SEED" > "/out/files/$(printf "caf\\351")"',
      // What an address would make of that name.
      'echo other > "/out/files/$(printf "caf\\357\\277\\275")"',
    ];
    const say = { script: script.join('\n'), outputs: ['files'] };
    const pipeline = {
      version: 1,
      name: 'odd',
      params: { seed: { type: 'string', default: 'one' } },
      steps: { say: { ...say, env: { SEED: '${{ params.seed }}' } }, silent: { command: ['true'] } },
    };
    writeFileSync(join(place.directory, 'odd.json'), JSON.stringify(pipeline));
    expect((await place.sluice('run', 'odd.json')).exitCode).toBe(0);
    const { runId } = (await place.runs())[0]!;
    expect((await place.sluice('run', 'odd.json', '-p', 'seed=another')).exitCode).toBe(0);
    const other = (await place.runs()).find((run) => run.runId !== runId)!.runId;
    served = await serveDashboard(place.home, { hasService: true });
    const { page, problems } = await openPage(browser);
    const failed: string[] = [];
    page.on('response', (reply) => {
      if (reply.status() >= 400) failed.push(`${reply.status()} ${reply.url()}`);
    });
    await page.goto(`${served.url}/#/runs/${runId}/steps/say/cells/0?tab=log`);
    const lines = page.locator('.line');
    await lines.filter({ hasText: '100% (written over 2 times)' }).waitFor();
    await lines.filter({ hasText: 'a⟨U+202E⟩b' }).waitFor();
    const dark = page.getByText('dark', { exact: true });
    expect(await dark.getAttribute('style')).toBe('background: rgb(10, 20, 30);');
    await page.goto(`${served.url}/#/runs/${runId}/steps/silent/cells/0?tab=log`);
    await page.getByText('The log is empty.').waitFor();
    await page.goto(`${served.url}/#/runs/${runId}/data/say/0/output/files`);
    await page.getByRole('link', { name: 'plain' }).waitFor();
    await page.getByText('caf\\xe9').waitFor();
    await page.getByRole('link', { name: 'caf\ufffd' }).waitFor();
    await page.goto(`${served.url}/#/runs/${runId}/data/say/0/output/files?with=${other}`);
    const differences = page.getByRole('region', { name: 'Differences' });
    await differences.getByText('1 file differs, 2 files are equal.').waitFor();
    const row = differences.getByRole('row', { name: 'caf\\xe9' });
    expect(await row.getByRole('cell').allTextContents()).toEqual([
      ...['≠changed caf\\xe9', expect.stringMatching(/^4 B/), expect.stringMatching(/^8 B/)],
    ]);
    expect(await differences.getByRole('link').count()).toBe(0);
    await page.getByRole('heading', { name: 'Used by' }).waitFor();
    expect([...failed, ...problems]).toEqual([]);
    await page.close();
  });

  test('the lines of a large log have their numbers wherever they are shown', async () => {
    place = createWorkplace();
    const file = 'version: 1\nname: long\nsteps: { say: { command: [sh, -c, "seq -f line-%.0f 1 500000"] } }\n';
    writeFileSync(join(place.directory, 'pipeline.yaml'), file);
    await place.sluice('run', 'pipeline.yaml');
    const { runId } = (await place.runs())[0]!;
    served = await serveDashboard(place.home, { hasService: true });
    const { page, problems } = await openPage(browser);
    await page.goto(`${served.url}/#/runs/${runId}/steps/say/cells/0?tab=log`);
    const lines = page.locator('.line');
    const numbered = (number: number) => lines.filter({ hasText: new RegExp(`^${number}line-${number}$`) }).waitFor();
    await numbered(1);
    await page.getByRole('button', { name: 'End', exact: true }).click();
    await numbered(500_000);
    await page.getByRole('slider', { name: 'Position in the log' }).fill('500');
    // The log ends with numbers that begin with 4 or 5.
    const middle = lines.filter({ hasText: /^([23]\d{5})line-\1$/ });
    await middle.first().waitFor();
    expect(problems).toEqual([]);
    await page.close();
  });

  test('a search finds cells by name, below their steps', async () => {
    place = createWorkplace();
    const cells = Array.from({ length: 3_000 }, (_, index) => index);
    const many = { needs: ['first'], command: ['true'], matrix: { cell: cells } };
    const few = { needs: ['first'], command: ['true'], matrix: { cell: [2_999, 'x'] } };
    writeFileSync(
      join(place.directory, 'many.json'),
      JSON.stringify({ version: 1, name: 'many', steps: { first: { command: ['false'] }, many, few } }),
    );
    await place.sluice('run', 'many.json');
    served = await serveDashboard(place.home);
    const { page, problems } = await openPage(browser);
    // The replies of two searches are held back, and that of another one is lost.
    const held = createSignal();
    const release = createSignal();
    await page.route(/search=cell-29$/, async (route) => {
      held.resolve();
      await release.promise;
      // The page no longer waits for it.
      await route.continue().catch(() => {});
    });
    await page.route(/search=cell-7$/, (route) => route.abort());
    await page.goto(`${served.url}/#/runs/${(await place.runs())[0]!.runId}`);
    const search = page.getByRole('searchbox');
    const found = page.getByRole('region', { name: 'Cells' });
    await search.fill('cell-29');
    await held.promise;
    await found.getByText('Searching the names of cells').waitFor();
    const dropped = page.waitForEvent('requestfailed');
    await search.fill('cell-299');
    expect((await dropped).url()).toMatch(/search=cell-29$/);
    // The first of `many` is cell-299, and the only one of `few` is cell-2999.
    const total = found.getByText('12 cells have such a name; the first 11 by step.');
    await total.waitFor();
    release.resolve();
    expect(await found.getByRole('link').allTextContents()).toEqual([
      ...['cell-299', ...Array.from({ length: 9 }, (_, index) => `cell-299${index}`), 'all 11 of many'],
      'cell-2999',
    ]);
    expect(await page.getByRole('treeitem').allTextContents()).toHaveLength(2);
    await search.fill('cell-7');
    await found.getByRole('alert').getByText('The server does not reply').waitFor();
    await search.fill('FEW cell-299');
    await found.getByText('1 cell has such a name.').waitFor();
    await search.focus();
    for (let tab = 0; tab < 12 && (await page.locator(':focus').textContent()) !== 'cell-2999'; tab++)
      await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: /^few \/ cell-2999/ }).waitFor();
    await turnPages(page, { many, few });
    expect(problems).toEqual([]);
    await page.close();
  });

  test('thousands of cells are in the page only where they are visible, and the map says how many it shows', async () => {
    place = createWorkplace();
    const cells = Array.from({ length: 5_100 }, (_, index) => index);
    const many = { needs: ['first'], command: ['true'], matrix: { cell: cells } };
    writeFileSync(
      join(place.directory, 'many.json'),
      JSON.stringify({ version: 1, name: 'many', steps: { first: { command: ['false'] }, many } }),
    );
    await place.sluice('run', 'many.json');
    served = await serveDashboard(place.home);
    const { page, problems } = await openPage(browser);
    await page.goto(`${served.url}/#/runs/${(await place.runs())[0]!.runId}?step=many`);
    await page.getByRole('button', { name: 'Show cells' }).click();
    await page.getByRole('tree').focus();
    await page.keyboard.press('End');
    await page.getByRole('treeitem', { name: 'cell-5099' }).waitFor();
    expect(await page.getByRole('treeitem').count()).toBeLessThan(100);
    // The map shows fewer, and says so.
    await page.goto(`${served.url}/#/runs/${(await place.runs())[0]!.runId}/steps/many`);
    await page.getByText('5,000 of 5,100 cells shown.').waitFor();
    await page.getByRole('searchbox', { name: 'Search cells' }).fill('cell-509');
    await page.getByText('11 of 11 matching cells shown.').waitFor();
    await page.getByRole('grid').getByRole('link', { name: 'cell-5099: skipped' }).waitFor();
    expect(problems).toEqual([]);
    await page.close();
  });

  test('texts of users execute nothing, and make no screen wider', async () => {
    place = createWorkplace();
    writeFileSync(join(place.directory, 'pipeline.yaml'), pipelineWith(ATTACK));
    await place.sluice('run', 'pipeline.yaml');
    const { runId } = (await place.runs())[0]!;
    served = await serveDashboard(place.home, { hasService: true });
    const screens = [
      ['', 'hostile'],
      [`#/runs/${runId}?step=each`, 'each'],
      [`#/runs/${runId}/steps/each`, 'Cells (1)'],
      [`#/runs/${runId}/steps/say/cells/0?tab=log`, ATTACK],
      [`#/runs/${runId}/steps/each/cells/0?tab=why`, 'Dependencies'],
      [`#/runs/${runId}/steps/say/cells/0?tab=attempts`, 'Requested by the pipeline'],
      [`#/runs/${runId}/steps/say/cells/0?tab=data`, ATTACK],
      [`#/runs/${runId}/data/say/0/output/out`, 'onerror'],
      [`#/runs/${runId}/data/say/0/output/out?with=${runId}`, 'No difference'],
      [`#/compare?run=${runId}`, 'Choose runs'],
      [`#/compare?run=${runId}&step=each`, 'Cells (1)'],
      ['#/schedules', 'no schedules'],
    ] as const;
    for (const colorScheme of ['light', 'dark'] as const) {
      const { page, problems } = await openPage(browser, { colorScheme, width: colorScheme === 'dark' ? 400 : 1_400 });
      for (const [hash, text] of screens) {
        await page.goto(`${served.url}/${hash}`);
        await page.reload();
        await page.getByText(text).filter({ visible: true }).first().waitFor();
        const width = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
        expect(width, `${hash} is wider than the screen`).toBeLessThanOrEqual(0);
      }
      await page.goto(`${served.url}/#/runs/${runId}`);
      if (colorScheme === 'dark') await page.getByText('Search, time and details').click();
      await page.getByRole('button', { name: 'Details' }).click();
      await page.getByText(ATTACK).first().waitFor();
      expect(await page.evaluate('globalThis.attacked')).toBeUndefined();
      expect(problems).toEqual([]);
      await page.close();
    }
  });
});

/** Turns the pages of the cells of a step, of the cells that differ between two runs, and of the runs. */
async function turnPages(
  page: Page,
  { many, few }: { many: { matrix: { cell: number[] } }; few: object },
): Promise<void> {
  const { runId } = (await place.runs())[0]!;
  const [next, previous] = ['Next page', 'Previous page'].map((name) => page.getByRole('button', { name }));
  await page.goto(`${served!.url}/#/runs/${runId}/steps/many`);
  const cells = page.getByRole('region', { name: 'Cells (3,000)' }).getByRole('link');
  await cells.nth(99).waitFor();
  await next!.press('Enter');
  await cells.filter({ hasText: /^cell-100$/ }).waitFor();
  expect([await cells.count(), await cells.first().textContent()]).toEqual([100, 'cell-100']);
  await previous!.press('Enter');
  await cells.filter({ hasText: /^cell-0$/ }).waitFor();
  await previous!.waitFor({ state: 'detached' });

  const fewer = { ...many, matrix: { cell: many.matrix.cell.slice(60) } };
  const steps = { first: { command: ['false'] }, many: fewer, few };
  writeFileSync(join(place.directory, 'many.json'), JSON.stringify({ version: 1, name: 'many', steps }));
  await place.sluice('run', 'many.json');
  const other = (await place.runs()).find((run) => run.runId !== runId)!.runId;
  await page.goto(`${served!.url}/#/compare?run=${runId},${other}`);
  const differences = page.getByRole('region', { name: 'Cells that differ' });
  await differences.getByText('Cells 1 to 50 of 60, the worst first').waitFor();
  await next!.press('Enter');
  await differences.getByText('Cells 51 to 60 of 60, the worst first').waitFor();
  expect(await differences.getByRole('rowheader').count()).toBe(10);
  expect(await next!.count()).toBe(0);

  for (let copy = 0; copy < 210; copy++) copyRun(other, createRunId());
  await page.goto(`${served!.url}/#/`);
  const runs = page.getByRole('region', { name: 'Runs' }).getByRole('link', { name: 'many' });
  await runs.nth(199).waitFor();
  expect(await runs.count()).toBe(200);
  await page.getByRole('button', { name: 'Load older runs' }).press('Enter');
  await runs.nth(211).waitFor();
  await page.getByRole('button', { name: 'Load older runs' }).waitFor({ state: 'detached' });
}

/** A run like another one, with an ID of its own. */
function copyRun(runId: string, copy: string): void {
  const directory = (id: string) => join(place.home, 'runs', id);
  mkdirSync(directory(copy));
  for (const name of ['plan.json', 'summary.json'])
    copyFileSync(join(directory(runId), name), join(directory(copy), name));
  const lines = readFileSync(join(directory(runId), 'journal.ndjson'), 'utf8')
    .trimEnd()
    .split('\n');
  const copied = lines.map((line) => {
    const { crc, ...content } = JSON.parse(line.replaceAll(runId, copy)) as JournalLine & { crc: string };
    return encodeLine(content);
  });
  writeFileSync(join(directory(copy), 'journal.ndjson'), copied.join(''));
}

/** A promise that the test resolves. */
function createSignal(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

/** A pipeline with `text` wherever users choose a text. */
function pipelineWith(text: string): string {
  const quoted = JSON.stringify(text);
  return `version: 1
name: hostile
description: ${quoted}
labels: { note: ${quoted} }
params: { text: { type: string, default: ${quoted} } }
steps:
  say:
    description: ${quoted}
    command: [sh, -c, 'printf "%s\\n" "$1"; printf "\\033[31m%s\\033[0m\\n" "$1"; printf "%s" "$1" > /sluice/results/text; echo x > "/out/<img src=x onerror=globalThis.attacked=1>"', sh, ${quoted}]
    results: { text: string }
    outputs: { out: /out }
  each:
    needs: [say]
    foreach: [${quoted}]
    command: ['false']
`;
}
