import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createWorkplace, type Workplace } from './workplace-rig.ts';

let place: Workplace;

beforeEach(() => {
  place = createWorkplace();
  const text = `
version: 1
name: unclear
params: { list: { type: array, default: [a, b] } }
steps:
  each: { foreach: ["\${{ params.list[7] }}"], command: ["true"] }
  after: { command: ["true"], needs: [each] }
`;
  writeFileSync(join(place.directory, 'p.yaml'), text);
});

afterEach(() => place.remove());

test('sluice run, show and logs say why a foreach could not be evaluated', async () => {
  const run = await place.sluice('run', 'p.yaml');
  expect(run.exitCode).toBe(1);
  expect(run.stdout).toContain('each attempt 1: `foreach` of step `each`');
  // There is no log to look at.
  expect(run.stdout).toMatch(/next: sluice why [^,]* each\n/);
  const shown = await place.sluice('show', '--json');
  const [failure] = (JSON.parse(shown.stdout) as { failures: { step: string; message: string }[] }).failures;
  expect(failure).toMatchObject({ step: 'each', message: expect.stringContaining('`foreach` of step `each`') });
  const logs = await place.sluice('logs', 'each');
  expect(logs.exitCode).toBe(2);
  expect(logs.stderr).toMatch(/could not find the log of each: it has no container in run \S+ \(failed: `foreach` of/);
  const after = await place.sluice('logs', 'after');
  expect(after.stderr).toMatch(/could not find the log of after: it has no container in run \S+ \(skipped: each did/);
});
