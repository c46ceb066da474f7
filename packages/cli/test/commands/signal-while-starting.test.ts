import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { runCommandLine } from '../../src/command-line/run-command-line.ts';
import { EXIT_CODE } from '../../src/context/exit-code.ts';
import { createPrinter } from '../json/printed-values.ts';

const FILE = 'version: 1\nname: one\nsteps: { a: { command: ["sleep", "600"] } }\n';

test.each([
  ['SIGTERM', EXIT_CODE.suspended],
  ['SIGINT', EXIT_CODE.interrupted],
] as const)('%s that comes before a run is recorded, or resumed, suspends it', async (signal, exitCode) => {
  const cwd = mkdtempSync(join(tmpdir(), 'sluice-signal-'));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true, maxRetries: 10 }));
  writeFileSync(join(cwd, 'pipeline.yaml'), FILE);
  const printer = createPrinter(cwd);
  const runs = join(cwd, '.sluice/runs');
  const recorded = () => (existsSync(runs) ? readdirSync(runs).length : 0);
  const before: number[] = [];
  for (const command of ['run', 'resume']) {
    const context = printer.createContext();
    let isSent = false;
    const send = () => {
      isSent = true;
      before.push(recorded());
      context.send(signal);
    };
    const ended = runCommandLine([command], {
      ...context,
      onSignal(name, listener) {
        const stop = context.onSignal(name, listener);
        if (name === signal && !isSent) queueMicrotask(send);
        return stop;
      },
    });
    expect(await ended).toBe(exitCode);
    expect(recorded()).toBe(1);
  }
  expect(before).toEqual([0, 1]);
  expect(await printer.print(['runs'])).toMatchObject({ values: [{ status: 'suspended' }] });
  expect(await printer.print(['cancel'])).toMatchObject({ exitCode: EXIT_CODE.ok });
});
