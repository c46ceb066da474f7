import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createRunExecutor } from '../../src/hosting/create-run-executor.ts';
import { createPrinter } from '../json/printed-values.ts';

const FILE = 'version: 1\nname: one\nsteps: { a: { command: ["true"] } }\n';

async function runOnce() {
  const cwd = mkdtempSync(join(tmpdir(), 'sluice-executor-'));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true, maxRetries: 10 }));
  const file = join(cwd, 'pipeline.yaml');
  writeFileSync(file, FILE);
  const printer = createPrinter(cwd);
  expect(await printer.print(['run'])).toMatchObject({ exitCode: 0 });
  const { values } = await printer.print(['runs']);
  return { printer, cwd, file, runId: String(values[0]!.runId) };
}

test('a rerun uses the service of the run, whatever the variables of this process select', async () => {
  const { printer, cwd, file, runId } = await runOnce();
  const executor = createRunExecutor({
    home: join(cwd, '.sluice'),
    options: {},
    context: printer.createContext({ SLUICE_SERVICE: 'https://other.example', SLUICE_ACCOUNT: 'a', SLUICE_TOKEN: 't' }),
    host: {} as never,
    openService: async () => expect.unreachable(),
  });
  const request = { origin: { rerunOf: runId }, reuse: false, from: [], params: { n: 2 } };
  expect(await executor.createOrder(request)).toEqual({ ok: true, value: { file, params: { n: '2' } } });
});

test('a file that was changed to one with errors is rejected with the errors, and nothing is recorded', async () => {
  const { printer, cwd, runId } = await runOnce();
  writeFileSync(join(cwd, 'pipeline.yaml'), FILE.replace('command', 'comand'));
  const executor = createRunExecutor({
    ...{ home: join(cwd, '.sluice'), options: {}, context: printer.createContext({}), host: {} as never },
    openService: async () => expect.unreachable(),
  });
  const request = { origin: { rerunOf: runId }, reuse: false, from: [], params: {} };
  const started = await executor.start(request, 'aaaaaaaaaaaaa');
  if (started.ok) expect.unreachable();
  expect(started.error).toMatch(/unknown key `comand`[\s\S]*1 error in .*pipeline\.yaml; nothing was started$/);
  expect((await printer.print(['runs'])).values).toHaveLength(1);
});

test('a request reads its file of parameters only below the project, and no file that a value names', async () => {
  const { printer, cwd, file } = await runOnce();
  const executor = createRunExecutor({
    ...{ home: join(cwd, '.sluice'), options: {}, context: printer.createContext({}), host: {} as never },
    openService: async () => expect.unreachable(),
  });
  writeFileSync(file, FILE.replace('steps:', 'params: { user: ada, tries: { type: integer } }\nsteps:'));
  writeFileSync(join(cwd, 'params.yaml'), 'tries: x\n');
  const request = { origin: { file }, reuse: false, from: [], params: { tries: 1 } };
  const preview = (more: object) => executor.preview({ ...request, ...more }, true);
  expect(await preview({ paramsFile: join(cwd, 'params.yaml') })).toMatchObject({
    ok: false,
    error: expect.stringContaining('params.yaml:1:8: error: parameter `tries` is "x", which is not of type integer'),
  });
  expect(await preview({ paramsFile: '/etc/hostname' })).toEqual({
    ok: false,
    error: expect.stringMatching(/^could not read \/etc\/hostname: it is not below /),
  });
  writeFileSync(join(cwd, 'params.yaml'), 'tries: 2\n');
  expect(await preview({ paramsFile: join(cwd, 'params.yaml'), params: {} })).toMatchObject({ ok: true });
  expect(await preview({ params: { tries: 1, user: '@/etc/hostname' } })).toMatchObject({ ok: true });
});
