import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createPrinter } from '../json/printed-values.ts';

let cwd: string;

beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'sluice-detach-'));
  writeFileSync(join(cwd, 'pipeline.yaml'), 'version: 1\nname: ask\nsteps: { ask: { approval: {} } }\n');
});

afterAll(() => rmSync(cwd, { recursive: true, force: true, maxRetries: 10 }));

test('detach changes nothing if the mark of the run cannot be written, for example on a full disk', async () => {
  const printer = createPrinter(cwd);
  expect((await printer.print(['run', '--stop-at-approval'])).exitCode).toBe(75);
  const [run] = (await printer.print(['runs'])).values;
  const runId = String(run!.runId);
  // As root, no permission would prevent the write.
  mkdirSync(join(cwd, '.sluice/runs', runId, 'custody.json'));
  const { exitCode, stderr } = await printer.print(['detach']);
  expect(stderr).toMatch(new RegExp(`^could not detach run ${runId}: .*; nothing has changed\n$`));
  expect(exitCode).toBe(2);
  expect((await printer.print(['runs'])).values).toMatchObject([{ runId, status: 'suspended', executor: 'none' }]);
}, 600_000);
