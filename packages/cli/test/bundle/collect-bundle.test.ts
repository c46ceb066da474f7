import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { collectBundle } from '../../src/bundle/collect-bundle.ts';

const MIB = 1 << 20;
const home = mkdtempSync(join(tmpdir(), 'sluice-collect-'));
const run = join(home, 'run');
const sources = {
  env: { SLUICE_SECRET_A: 'planted-secret' },
  home,
  homeProblem: undefined,
  runDirectory: run,
  runProblem: undefined,
  described: {},
  credentialFiles: [],
};

afterEach(() => rmSync(home, { recursive: true, force: true }));

test('large files of a run have limits, and every spelling of a secret in JSON is found', () => {
  mkdirSync(run, { recursive: true });
  writeFileSync(join(run, 'plan.json'), `{"text":"${'x'.repeat(8 * MIB)}"}`);
  writeFileSync(join(run, 'report.json'), '{"message":"\\u0070lanted\\u002dsecret"}');
  const line = `{"record":"${'planted-secret '.repeat(70)}"}\n`;
  writeFileSync(join(run, 'journal.ndjson'), line.repeat(Math.ceil((13 * MIB) / line.length)));
  const { files, leftOut } = collectBundle(sources);
  expect(leftOut).toContainEqual({ name: 'run/plan.json', reason: 'it has more than 8 MiB' });
  const [report, journal] = files.map(({ bytes }) => bytes.toString());
  expect(report).toBe('{"message":"[secret]"}\n');
  expect(journal!.length).toBeLessThan(12 * MIB);
  const lines = journal!.trimEnd().split('\n');
  expect(lines[0]).toBe('(only the last 12 MiB)');
  expect(new Set(lines.slice(1))).toEqual(new Set([`{"record":"${'[secret] '.repeat(70)}"}`]));
});

test('a home that may not be read contributes nothing, with the reason', () => {
  mkdirSync(run, { recursive: true });
  const { files, leftOut } = collectBundle({ ...sources, home: undefined, homeProblem: 'not trusted' });
  expect(files).toEqual([]);
  expect(leftOut).toContainEqual({ name: 'the home', reason: 'not trusted' });
});
