import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { runCommandLine } from '../../src/command-line/run-command-line.ts';
import { JSON_VALUES } from '../../src/json/json-values.ts';
import { createTestContext } from '../recording-terminal.ts';

async function call(...args: readonly string[]) {
  const context = createTestContext({ cwd: '/' });
  const exitCode = await runCommandLine(['schema', ...args], context);
  return { exitCode, ...context.terminal.written() };
}

test('schema without a name lists the schemas of files, then those of all types of the JSON contract', async () => {
  const { exitCode, out } = await call();
  expect(exitCode).toBe(0);
  expect(out.split('\n')).toEqual(['pipeline', 'profile', 'service', ...Object.keys(JSON_VALUES).sort(), '']);
});

test('schema prints the file that the package has under this name, with its URN', async () => {
  const { out: names } = await call();
  for (const name of names.trim().split('\n')) {
    const { exitCode, out, err } = await call(name);
    expect({ exitCode, err }).toEqual({ exitCode: 0, err: '' });
    const file = createRequire(import.meta.url).resolve(`sluice/schemas/${name}.json`);
    expect(out).toBe(readFileSync(file, 'utf8'));
    const schema = JSON.parse(out) as Record<string, unknown>;
    expect(schema).toMatchObject({ $id: `urn:sluice:schema:${name}` });
    expect(() => z.fromJSONSchema(schema)).not.toThrow();
  }
});

test('schema rejects a name that it does not know, also one that is a path', async () => {
  expect(await call('runreport')).toEqual({
    ...{ exitCode: 2, out: '' },
    err: 'there is no schema runreport; did you mean `runReport`?\nlist their names with: sluice schema\n',
  });
  for (const name of ['../package', '', 'run.json']) expect(await call(name)).toMatchObject({ exitCode: 2, out: '' });
});

test('the schema of a service has its sections, and that of a profile its limits as they are written', async () => {
  const [service, profile] = await Promise.all(['service', 'profile'].map(async (name) => (await call(name)).out));
  expect(Object.keys(JSON.parse(service!).properties)).toEqual(
    expect.arrayContaining(['clusters', 'runs', 'schedules']),
  );
  expect(Object.keys(JSON.parse(profile!).properties.limits.properties)).toContain('lostAfter');
});
