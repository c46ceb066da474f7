import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { runCommandLine } from '../../src/command-line/run-command-line.ts';
import { createPrinter } from '../json/printed-values.ts';

const FILE = 'version: 1\nname: one\nsteps: { a: { command: ["true"] } }\n';

test('attach awaits signals before its first output', async () => {
  const cwd = mkdtempSync(join(tmpdir(), 'sluice-attach-'));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true, maxRetries: 10 }));
  writeFileSync(join(cwd, 'pipeline.yaml'), FILE);
  const printer = createPrinter(cwd);
  expect(await printer.print(['run'])).toMatchObject({ exitCode: 0 });
  const context = printer.createContext();
  const awaited: string[] = [];
  const atFirstOutput: (readonly string[])[] = [];
  const exitCode = await runCommandLine(['attach', '--json'], {
    ...context,
    onSignal(signal, listener) {
      awaited.push(signal);
      return context.onSignal(signal, listener);
    },
    terminal: { ...context.terminal, out: () => void atFirstOutput.push([...awaited]) },
  });
  expect(exitCode).toBe(0);
  expect(atFirstOutput[0]).toEqual(['SIGINT', 'SIGTERM']);
});
