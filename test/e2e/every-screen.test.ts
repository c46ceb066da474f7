import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findBarriers, HAS_CHROMIUM, launchChromium, openPage } from './browser-rig.ts';
import { findMouseOnly, recordFocus, tabThrough } from './keyboard-rig.ts';
import { createWorkplace, type Started, until, type Workplace } from './workplace-rig.ts';

const WIDE = { width: 1_400, height: 900 };
const NARROW = { width: 400, height: 900 };
/** The only rule whose result depends on the colors. */
const COLORS = ['color-contrast'];
const FILES = {
  'part.yaml': 'version: 1\nname: part\nsteps: { a: { command: "true" }, b: { needs: [a], command: "true" } }\n',
  'samples.yaml': `version: 1
name: samples
labels: { team: ops }
params: { word: { type: string, default: abc, description: a word }, many: { type: boolean, default: true } }
axes: { sample: [S1, S2, S3] }
steps:
  read: { each: sample, script: 'echo \${{ params.word }} > /out/text/a.txt; printf "a,b\\n1,2\\n" > /out/text/b.csv; echo "{}" > /out/text/c.json', outputs: [text] }
  count: { each: sample, inputs: { text: read.text }, script: 'wc -c < /in/text/a.txt > /sluice/results/size', results: { size: number } }
  fit: { matrix: { model: [a, b], n: [1, 2, 3] }, script: 'echo 0.\${{ matrix.n }} > /sluice/results/score', results: { score: number } }
  parts: { uses: part.yaml, needs: [fit] }
finally:
  report: { script: 'echo done' }
`,
  'failing.yaml': `version: 1
name: failing
failFast: false
defaults: { retry: { limit: 1, backoff: { initial: 10ms } } }
steps:
  fit:
    matrix: { seed: [1, 2, 3] }
    script: |
      seq -f 'epoch %g' 60
      printf '\\033[31mERROR: loss is NaN\\033[0m\\n'
      test \${{ matrix.seed }} = 3
  report: { needs: [fit], command: "true" }
`,
  'approval.yaml': `version: 1
name: approval
steps:
  build: { command: "true" }
  release: { needs: [build], approval: { message: "Release it?" } }
`,
  'nightly.yaml':
    'version: 1\nname: nightly\nschedule: { cron: "30 2 * * *", timezone: UTC, overlap: skip, catchup: none }\nsteps: { one: { command: "true" } }\n',
};

/** The IDs of the runs; `other` is of the same pipeline as `good`. `at`: a time of `bad`. */
type Ids = Readonly<Record<'good' | 'other' | 'bad' | 'asks' | 'at', string>>;

interface Screen {
  readonly name: string;
  readonly hash: (ids: Ids) => string;
  /** What is there when it is loaded. */
  readonly text: string | RegExp;
  /** What opens it on the screen of the hash. */
  readonly open?: (page: Page) => Promise<void>;
}

const cell = (tab: string) => (ids: Ids) => `runs/${ids.bad}/steps/fit/cells/0?tab=${tab}`;

const press = (name: string) => (page: Page) => page.getByRole('button', { name, exact: true }).first().press('Enter');

const NO_SCREEN = 'There is no such screen.';

/** All screens, tabs, panes and dialogs. */
const SCREENS: readonly Screen[] = [
  { name: 'runs', hash: () => '', text: 'Last two weeks' },
  { name: 'runs of which none is shown', hash: () => '?q=nothing', text: 'No run matches.' },
  { name: 'the form of a run', hash: () => '', open: press('Run a pipeline'), text: 'Show what would happen' },
  { name: 'the keys', hash: () => '', open: press('Keyboard help'), text: 'this help' },
  { name: 'a run', hash: ({ good }) => `runs/${good}`, text: 'Fit' },
  {
    name: 'the facts of a run',
    hash: ({ good }) => `runs/${good}`,
    open: press('Details'),
    text: 'Cluster and account',
  },
  { name: 'a timeline', hash: ({ good }) => `runs/${good}?view=timeline`, text: 'report' },
  { name: 'a grid', hash: ({ good }) => `runs/${good}?view=grid`, text: /3 rows/ },
  { name: 'a row of a grid', hash: ({ good }) => `runs/${good}?view=grid&row=S1`, text: 'read/S1' },
  { name: 'a selected step', hash: ({ good }) => `runs/${good}?step=fit`, text: 'Show cells' },
  { name: 'a selected group', hash: ({ good }) => `runs/${good}?step=parts-a&fold=parts`, text: 'Unfold' },
  { name: 'found cells', hash: ({ good }) => `runs/${good}?q=model-a`, text: /3 cells have such a name/ },
  { name: 'the past of a run', hash: ({ bad, at }) => `runs/${bad}?at=${at}`, text: 'as it was at' },
  { name: 'a run that failed', hash: ({ bad }) => `runs/${bad}`, text: 'ERROR: loss is NaN' },
  {
    name: 'the effect of a rerun',
    hash: ({ bad }) => `runs/${bad}`,
    open: press('Rerun what failed'),
    text: 'Time saved',
  },
  {
    name: 'the form of a rerun',
    hash: ({ good }) => `runs/${good}`,
    open: press('Rerun with parameters'),
    text: 'Reuse what',
  },
  { name: 'a run that waits for an approval', hash: ({ asks }) => `runs/${asks}`, text: 'Release it?' },
  {
    name: 'the effect of an approval',
    hash: ({ asks }) => `runs/${asks}`,
    open: press('Approve'),
    text: 'Equivalent command',
  },
  {
    name: 'a cell that waits for an approval',
    hash: ({ asks }) => `runs/${asks}/steps/release/cells/0`,
    text: 'Release it?',
  },
  { name: 'a run that does not exist', hash: ({ good }) => `runs/${[...good].reverse().join('')}`, text: /has no run/ },
  { name: 'a step', hash: ({ good }) => `runs/${good}/steps/fit?color=score`, text: /from 0.1/ },
  {
    name: 'a step that differs',
    hash: ({ good, other }) => `runs/${good}/steps/read?against=${other}`,
    text: /differs/,
  },
  { name: 'a step that does not exist', hash: ({ good }) => `runs/${good}/steps/none`, text: 'has no step none' },
  { name: 'a log', hash: cell('log'), text: 'ERROR: loss is NaN' },
  { name: 'the reasons of a cell', hash: cell('why'), text: 'Dependencies' },
  { name: 'the attempts of a cell', hash: cell('attempts'), text: 'Resource use' },
  { name: 'the data of a cell', hash: ({ good }) => `runs/${good}/steps/count/cells/0?tab=data`, text: 'Inputs' },
  { name: 'a cell that does not exist', hash: ({ good }) => `runs/${good}/steps/fit/cells/99`, text: '99' },
  {
    name: 'a directory',
    hash: ({ good, other }) => `runs/${good}/data/read/0/output/text?with=${other}`,
    text: 'a.txt',
  },
  { name: 'a file', hash: ({ good }) => `runs/${good}/data/read/0/output/text/b.csv`, text: 'Used by' },
  { name: 'a file that does not exist', hash: ({ good }) => `runs/${good}/data/read/0/output/text/none`, text: 'none' },
  { name: 'the choice of runs to compare', hash: () => 'compare', text: 'Choose runs' },
  {
    name: 'compared runs',
    hash: ({ good, other }) => `compare?run=${good},${other}`,
    text: /the worst first|No cell differs/,
  },
  {
    name: 'compared runs with cells and a folded group',
    hash: ({ good, other }) => `compare?run=${good},${other}&unfold=fit&fold=parts`,
    text: 'model-b-n-3',
  },
  { name: 'compared cells', hash: ({ good }) => `compare?run=${good}&step=fit`, text: 'Cells (6)' },
  { name: 'schedules', hash: () => 'schedules', text: 'nightly' },
  { name: 'a schedule', hash: () => 'schedules/nightly', text: 'Next month' },
  {
    name: 'a day of a schedule',
    hash: () => 'schedules/nightly?month=2025-01&day=2025-01-14',
    text: 'No planned times.',
  },
  { name: 'a schedule that does not exist', hash: () => 'schedules/none', text: 'has no schedule none' },
  { name: 'a screen that does not exist', hash: () => 'none', text: NO_SCREEN },
];

let browser: Browser;
let place: Workplace;
let ui: Started;
let page: Page;
let problems: readonly string[];
let session: string;
let ids: Ids;

describe.skipIf(!HAS_CHROMIUM && process.env.CI !== 'true')('every screen of the dashboard', () => {
  beforeAll(async () => {
    place = createWorkplace();
    for (const [name, text] of Object.entries(FILES)) writeFileSync(join(place.directory, name), text);
    const run = (...args: string[]) => place.sluice('run', ...args);
    expect(await run('samples.yaml')).toMatchObject({ exitCode: 0 });
    expect(await run('samples.yaml', '-p', 'word=abcd')).toMatchObject({ exitCode: 0 });
    expect(await run('failing.yaml')).toMatchObject({ exitCode: 1 });
    await place.sluice('schedule', 'run', '--once', 'nightly.yaml');
    ui = place.start(['ui', '--listen', '127.0.0.1:0', '--json'], { isEndless: true });
    await until(() => ui.stdout().includes('\n'), 'the link');
    // The process of the dashboard executes it.
    expect(await run('approval.yaml', '--detach')).toMatchObject({ exitCode: 0 });
    const listed = await place.runs();
    const [good, other] = listed.filter(({ pipeline }) => pipeline === 'samples');
    const idOf = (name: string) => listed.find(({ pipeline }) => pipeline === name)!.runId;
    const { startedAt } = listed.find(({ pipeline }) => pipeline === 'failing')!;
    ids = { good: good!.runId, other: other!.runId, bad: idOf('failing'), asks: idOf('approval'), at: startedAt! };
    browser = await launchChromium();
    ({ page, problems } = await openPage(browser));
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await recordFocus(page);
    await page.goto((JSON.parse(ui.stdout().split('\n')[0]!) as { url: string }).url);
    await page.getByText('Last two weeks').waitFor();
    session = new URL('./', page.url()).href;
  });
  afterAll(async () => {
    await browser?.close();
    ui?.process.kill('SIGTERM');
    await ui?.ended;
    place?.remove();
  });

  test.each(SCREENS)('$name', async ({ hash, text, open }) => {
    await page.setViewportSize(WIDE);
    await page.emulateMedia({ colorScheme: 'light' });
    // A screen that is opened again begins anew.
    await page.goto(`${session}#/none`);
    await page.getByText(NO_SCREEN).waitFor();
    await page.goto(`${session}#/${hash(ids)}`);
    await open?.(page);
    await page.getByText(text).filter({ visible: true }).first().waitFor();
    const found: Record<string, unknown> = { wide: await findBarriers(page) };
    const keys: Record<string, unknown> = { wide: await tabThrough(page) };
    found.mouseOnly = await findMouseOnly(page);
    found.moving = await page.evaluate('document.getAnimations().length');
    await page.emulateMedia({ colorScheme: 'dark' });
    found.wideDark = await findBarriers(page, COLORS);
    await page.setViewportSize(NARROW);
    found.narrowDark = await findBarriers(page, COLORS);
    await page.emulateMedia({ colorScheme: 'light' });
    found.narrow = await findBarriers(page);
    keys.narrow = await tabThrough(page);
    found.overflow = await page.evaluate('Math.max(0, document.documentElement.scrollWidth - innerWidth)');
    const calm = { wide: [], wideDark: [], narrow: [], narrowDark: [], overflow: 0, moving: 0, mouseOnly: [] };
    expect(found).toEqual(calm);
    const inOrder = { missed: [], unmarked: [], unlikeBackwards: [] };
    expect(keys).toEqual({ wide: inOrder, narrow: inOrder });
    if (open !== undefined) await page.keyboard.press('Escape');
    expect(problems).toEqual([]);
  });
});
