import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ServiceError } from '@sluice/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCommandLine } from '../../src/command-line/run-command-line.ts';
import { createPrinter } from '../json/printed-values.ts';

const PIPELINE = `version: 1
name: far
steps: { a: { command: [echo], outputs: { o: /out } }, b: { approval: {}, needs: [a] } }
`;
/** Nothing listens there. */
const ENV = {
  ...{ SLUICE_SERVICE: 'http://127.0.0.1:1/', SLUICE_TOKEN: 'token' },
  ...{ SLUICE_CLUSTER: 'main', SLUICE_ACCOUNT: 'physics' },
};

let cwd: string;
let printer: ReturnType<typeof createPrinter>;

beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'sluice-unreachable-'));
  printer = createPrinter(cwd);
  writeFileSync(join(cwd, 'pipeline.yaml'), PIPELINE);
  expect((await printer.print(['run', '--stop-at-approval'])).exitCode).toBe(75);
});

afterAll(() => rmSync(cwd, { recursive: true, force: true, maxRetries: 10 }));

/** A run that has recorded its service uses another one only if an option names it. */
const NAMED = '--service http://127.0.0.1:1/ --account main/physics';

test.each([
  ['run'],
  ['run --detach'],
  ['plan'],
  ['runs'],
  ['show'],
  [`logs a ${NAMED}`],
  [`why a ${NAMED}`],
  [`pull a --to out ${NAMED}`],
  [`resume ${NAMED}`],
  [`rerun ${NAMED}`],
  ['approve b'],
  [`cancel ${NAMED}`],
  ['gc'],
  ['orphans'],
  ['adopt aaaaaaaaaaaaa pipeline.yaml'],
])('sluice %s calls an unreachable service no bug', async (words) => {
  const { values, stderr } = await printer.print(words.split(' '), ENV);
  expect(stderr).not.toContain('internal error');
  expect(values.map(({ code }) => code)).not.toContain('INTERNAL');
});

test('an error of the service that no command handles is no bug in Sluice', async () => {
  const context = printer.createContext();
  const out = () => {
    throw new ServiceError('NO_REPLY', 'could not list the runs: no reply');
  };
  expect(await runCommandLine(['runs'], { ...context, terminal: { ...context.terminal, out } })).toBe(3);
  expect(context.terminal.written().err).toBe('could not list the runs: no reply\n');
});
