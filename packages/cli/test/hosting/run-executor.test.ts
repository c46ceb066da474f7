import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { CommandContext } from '../../src/context/command-context.ts';
import { createRunExecutor, type SubmitOptions } from '../../src/hosting/create-run-executor.ts';
import { createPrinter } from '../json/printed-values.ts';

const FILE = 'version: 1\nname: one\nsteps: { a: { command: ["true"] } }\n';

test('a rerun uses the service of the run, whatever the variables of this process select', async () => {
  const cwd = mkdtempSync(join(tmpdir(), 'sluice-executor-'));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true, maxRetries: 10 }));
  const file = join(cwd, 'pipeline.yaml');
  writeFileSync(file, FILE);
  const printer = createPrinter(cwd);
  expect(await printer.print(['run'])).toMatchObject({ exitCode: 0 });
  const { values } = await printer.print(['runs']);
  const submitted: { context: CommandContext; options: SubmitOptions }[] = [];
  const executor = createRunExecutor({
    home: join(cwd, '.sluice'),
    options: {},
    context: printer.createContext({ SLUICE_SERVICE: 'https://other.example', SLUICE_ACCOUNT: 'a', SLUICE_TOKEN: 't' }),
    host: {} as never,
    openService: async () => expect.unreachable(),
    submit: async (_file, context, options) => {
      submitted.push({ context, options });
      return 0;
    },
    detach: async () => expect.unreachable(),
  });
  const order = { origin: { rerunOf: String(values[0]!.runId) }, reuse: false, from: [], params: {} };
  expect(await executor.start(order, 'aaaaaaaaaaaaa')).toEqual({ ok: true, value: undefined });
  const [{ context, options }] = submitted as [(typeof submitted)[0]];
  expect(options.service).toBeUndefined();
  expect(context.env).toMatchObject({ SLUICE_TOKEN: 't' });
  expect(Object.keys(context.env)).not.toContain('SLUICE_SERVICE');
  expect(Object.keys(context.env)).not.toContain('SLUICE_ACCOUNT');
});
