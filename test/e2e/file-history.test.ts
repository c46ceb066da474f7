import { createHash } from 'node:crypto';
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FileHistory } from '@sluice/host';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HAS_CHROMIUM, launchChromium, openPage, type ServedDashboard, serveDashboard } from './browser-rig.ts';
import { createWorkplace, type Workplace } from './workplace-rig.ts';

const PIPELINE = `version: 1
name: letters
params: { word: { type: string, default: abc } }
steps:
  make:
    matrix: { n: [1, 2] }
    command: "echo \${{ params.word }}\${{ matrix.n }} > /out/all/letters.txt"
    outputs: [all]
    cache: true
  read:
    inputs: { letters: make.all }
    command: "cat /in/letters/*/letters.txt > /out/joined/joined.txt"
    outputs: [joined]
outputs:
  joined: { from: read.joined, publish: results/joined }
`;

let place: Workplace;
let ids: readonly string[];
const history = async (...args: string[]) =>
  JSON.parse((await place.sluice('history', ...args, '--json')).stdout) as FileHistory;

beforeAll(async () => {
  place = createWorkplace();
  writeFileSync(join(place.directory, 'pipeline.yaml'), PIPELINE);
  for (let run = 0; run < 2; run++) expect(await place.sluice('run', 'pipeline.yaml')).toMatchObject({ exitCode: 0 });
  ids = (await place.runs()).map(({ runId }) => runId).reverse();
});
afterAll(() => place.remove());

describe('sluice history', () => {
  test('an output of a cell: the attempt that wrote it, who reused it, and who mounted it in both runs', async () => {
    const [first, second] = ids;
    for (const address of ['make/n-1.all/letters.txt', `runs/${first}/out/make/all/n-1/letters.txt`]) {
      const told = await history('-r', second!, address);
      expect(told.makers).toEqual([
        expect.objectContaining({
          ...{ runId: first, pipeline: 'letters', step: 'make', cell: 'n-1', attempt: 1 },
          path: `runs/${first}/out/make/all/n-1/letters.txt`,
          containerId: expect.stringContaining(first!),
          publishedAt: expect.any(String),
        }),
      ]);
      const uses = told.uses.map(({ kind, runId, step, cell, name }) => [kind, runId, step, cell, name]);
      expect(uses).toEqual([
        ['reused', second, 'make', 'n-1', undefined],
        ['mounted', second, 'read', '', 'letters'],
        ['mounted', first, 'read', '', 'letters'],
      ]);
      expect(told.unknown[0]).toBe('whether the output contains letters.txt: volumes were not read');
    }
    expect((await history('-r', second!, 'make.all')).makerCount).toBe(2);
  });

  test('a published file, a copy of it, and its SHA-256: the newest run that has copied it', async () => {
    const file = join(place.directory, 'results/joined/joined.txt');
    const copy = join(place.directory, 'copy.txt');
    copyFileSync(file, copy);
    const sha256 = createHash('sha256').update(readFileSync(file)).digest('hex');
    for (const what of ['results/joined/joined.txt', 'copy.txt', sha256, `sha256:${sha256}`]) {
      const told = await history(what);
      expect(told).toMatchObject({ sha256, step: 'read', output: 'joined', path: 'joined.txt' });
      expect(told.makers).toMatchObject([{ runId: ids[1], step: 'read', attempt: 1 }]);
      expect(told.uses).toMatchObject([
        { kind: 'published', name: 'joined', directory: join(place.directory, 'results/joined') },
      ]);
    }
    const text = (await place.sluice('history', 'copy.txt')).stdout;
    expect(text).toContain(`run ${ids[1]} of letters: read attempt 1`);
    expect(text).toContain('not known\n');
  });

  test('a file that no run has written, and a run that was removed', async () => {
    for (const [what, message] of [
      ['nothing', 'there is no such file'],
      ['0'.repeat(64), 'of which no hashes are recorded'],
      ['pipeline.yaml', 'no directory to which a run of this home has copied an output contains it'],
      ['read.other', 'has no output other'],
      ['absent.joined', 'has no step'],
    ] as const) {
      const rejected = await place.sluice('history', what);
      expect(rejected).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(message) });
    }
    rmSync(join(place.home, 'runs', ids[0]!), { recursive: true });
    const told = await history('make/n-1.all');
    expect(told.makers).toMatchObject([{ runId: ids[0], step: 'make', cell: 'n-1' }]);
    expect(told.makers[0]).not.toHaveProperty('attempt');
    expect(told.makers[0]!.problem).toContain('which attempt wrote it is not known');
  });
});

describe.skipIf(!HAS_CHROMIUM && process.env.CI !== 'true')('the history on the screen of data', () => {
  let browser: Browser;
  let served: ServedDashboard;
  beforeAll(async () => {
    browser = await launchChromium();
    served = await serveDashboard(place.home, { hasService: true });
  });
  afterAll(async () => {
    await browser?.close();
    await served?.close();
  });

  test('who wrote a file that an input mounts', async () => {
    const { page, problems } = await openPage(browser);
    await page.goto(`${served.url}/#/runs/${ids[1]}/data/read/0/input/letters/n-2/letters.txt`);
    const shown = page.getByRole('region', { name: 'History' });
    await shown.getByText(`of run ${ids[0]}`).waitFor();
    await shown.getByRole('row', { name: /mounted by read letters/ }).waitFor();
    await page.getByText('abc2').waitFor();
    expect(problems).toEqual([]);
    await page.close();
  });
});
