import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RunReport, renderJunit } from '@sluice/run';
import { afterAll, expect, test } from 'vitest';
import { writeJunit } from '../../src/runs/write-junit.ts';

const cwd = mkdtempSync(join(tmpdir(), 'sluice-junit-'));
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

const report: RunReport = {
  ...{
    runId: 'r1',
    pipeline: 'p',
    status: 'succeeded',
    createdAt: 0,
    startedAt: 0,
    clusterId: 'local',
    accountId: 'local',
  },
  ...{ steps: [], failures: [], outputs: {} },
};
const write = (junit: string) => writeJunit(report, { context: { cwd }, options: { junit, home: 'there' } });

test('writeJunit replaces the whole file, and creates its directory', async () => {
  expect(await writeJunit(report, { context: { cwd }, options: {} })).toBeUndefined();
  for (const name of ['reports/junit.xml', 'reports/junit.xml']) expect(await write(name)).toBeUndefined();
  expect(readdirSync(join(cwd, 'reports'))).toEqual(['junit.xml']);
  expect(readFileSync(join(cwd, 'reports/junit.xml'), 'utf8')).toBe(renderJunit(report));
});

test('writeJunit says what it could not write, and how to repeat it', async () => {
  mkdirSync(join(cwd, 'directory'));
  expect(await write('directory')).toEqual({
    exitCode: 1,
    code: 'REJECTED',
    message: `could not write ${cwd}/directory: it is not a regular file; write another file with: sluice report r1 --junit junit.xml --home there`,
  });
  writeFileSync(join(cwd, 'file'), '');
  expect((await write('file/junit.xml'))?.message).toContain(`could not write ${cwd}/file/junit.xml: `);
});
