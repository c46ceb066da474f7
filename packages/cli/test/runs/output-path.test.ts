import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createPrinter } from '../json/printed-values.ts';

const PART = `
version: 1
name: part
steps:
  make: { command: [sh, -c, "mkdir /out/logs; echo one > /out/logs/one; echo two > /out/two"], outputs: { out: /out } }
outputs: { all: make.out, two: make.out/two }
`;
const WHOLE = `
version: 1
name: whole
steps:
  use: { uses: ./part.yaml }
  read: { command: [cat, /in/two], inputs: { two: use.two } }
outputs:
  logs: { from: use.all/logs, publish: results }
  two: { from: use.two, publish: copies }
`;

let cwd: string;

beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'sluice-output-path-'));
  writeFileSync(join(cwd, 'part.yaml'), PART);
  writeFileSync(join(cwd, 'whole.yaml'), WHOLE);
});

afterAll(() => rmSync(cwd, { recursive: true, force: true, maxRetries: 10 }));

test('an output of a pipeline may be a part of an output: a directory is published, a file is pulled', async () => {
  const printer = createPrinter(cwd);
  const run = await printer.print(['run', 'whole.yaml']);
  expect(run.exitCode, run.stderr).toBe(1);
  const { report } = run.values.at(-1) as { report: { status: string; outputs: Record<string, object> } };
  expect(report.status).toBe('succeeded');
  expect(report.outputs).toMatchObject({
    logs: { step: 'use-make', output: 'out', path: 'logs', publishedTo: join(cwd, 'results') },
    two: { path: 'two', notPublished: expect.stringContaining('two is a file; publish the directory') },
  });
  expect(readdirSync(join(cwd, 'results')).filter((name) => !name.startsWith('.'))).toEqual(['one']);
  for (const name of ['two', 'logs']) {
    const pulled = await printer.print(['pull', name, '--to', 'pulled']);
    expect(pulled.exitCode, pulled.stderr).toBe(0);
  }
  expect(readFileSync(join(cwd, 'pulled/two'), 'utf8')).toBe('two\n');
  expect(readFileSync(join(cwd, 'pulled/logs/one'), 'utf8')).toBe('one\n');
}, 600_000);
