import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isHosted } from '@sluice/home';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { addRun, removeStaged } from '../../src/hosted/add-run.ts';
import { readStart } from '../../src/hosted/start-record.ts';

const RUN = 'aaaaaaaaaaaaa';
const FILES = {
  'plan.json': Buffer.from('plan'),
  'journal.ndjson': Buffer.from('journal'),
  ...{ summary: { pipeline: 'p', createdAt: 1 }, cells: 1 },
};
const START = { order: 'abc' };
let home: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'add-run-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const directory = () => join(home, 'runs', RUN);

test('addRun adds a run with all its files, of which a host has the custody', async () => {
  await addRun({ home, runId: RUN }, { files: FILES, start: START, sealed: Buffer.from('sealed') });
  expect(readdirSync(directory()).sort()).toEqual(
    ['custody.json', 'journal.ndjson', 'plan.json', 'secrets.sealed', 'start.json', 'summary.json'].sort(),
  );
  expect(readFileSync(join(directory(), 'plan.json'), 'utf8')).toBe('plan');
  expect(await readStart(directory())).toEqual(START);
  expect(isHosted(home, RUN)).toBe(true);
  expect(readdirSync(join(home, 'staged'))).toEqual([]);
});

test('addRun leaves nothing behind if it fails', async () => {
  writeFileSync(join(home, 'runs'), 'a file in the way');
  await expect(addRun({ home, runId: RUN }, { files: FILES, start: START, sealed: undefined })).rejects.toThrow();
  expect(readdirSync(join(home, 'staged'))).toEqual([]);
});

test('removeStaged removes what a killed process has left', async () => {
  await addRun({ home, runId: RUN }, { files: FILES, start: START, sealed: undefined });
  writeFileSync(join(home, 'staged', 'left'), '');
  await removeStaged(home);
  expect([existsSync(join(home, 'staged')), existsSync(directory())]).toEqual([false, true]);
  await removeStaged(home);
});
