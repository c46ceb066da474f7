import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHostMetrics } from '@sluice/host';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCommandLine } from '../../src/command-line/run-command-line.ts';
import { runHomeSchedules } from '../../src/hosting/run-home-schedules.ts';
import { createPrinter } from '../json/printed-values.ts';

const TIMEOUT = { timeout: 300_000 };
const DAY = '2025-01-01..2025-01-01';

const file = (name: string) => `
version: 1
name: ${name}
schedule: { cron: "30 2 * * *" }
steps:
  wait: { command: [sh, -c, "touch /out/begun; sleep 1000"], outputs: { o: /out } }
`;

let cwd: string;
let printer: ReturnType<typeof createPrinter>;

beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'sluice-schedules-'));
  printer = createPrinter(cwd);
  for (const name of ['first', 'second']) writeFileSync(join(cwd, `${name}.yaml`), file(name));
});

afterAll(() => rmSync(cwd, { recursive: true, force: true, maxRetries: 10 }));

/** Runs a schedule for the first time, and leaves a run of it. */
async function leaveRun(name: string, begun: number): Promise<void> {
  expect(await printer.print(['schedule', 'run', '--once', `${name}.yaml`])).toMatchObject({ exitCode: 0 });
  const context = printer.createContext();
  const args = ['schedule', 'backfill', DAY, `${name}.yaml`, '--json'];
  const ended = runCommandLine(args, context);
  const files = () => readdirSync(join(cwd, '.sluice'), { recursive: true, encoding: 'utf8' });
  await expect.poll(() => files().filter((path) => path.endsWith('/begun')).length, TIMEOUT).toBe(begun);
  context.send('SIGTERM');
  expect(await ended).toBe(75);
}

test('the schedules of a home are run, also one whose first run comes later', async () => {
  await leaveRun('first', 1);
  const lines: string[] = [];
  const metrics = createHostMetrics();
  const schedules = runHomeSchedules({
    ...{ home: join(cwd, '.sluice'), context: printer.createContext(), options: {}, metrics },
    log: (line) => void lines.push(line),
  });
  const log = () => lines.join('\n');
  await expect.poll(log, TIMEOUT).toContain('schedule first: scheduledRunResumed');
  await leaveRun('second', 2);
  await expect.poll(log, TIMEOUT).toContain('schedule second: scheduledRunResumed');
  const { values } = await printer.print(['runs']);
  for (const { runId, pipeline } of values) {
    expect(await printer.print(['cancel', String(runId)])).toMatchObject({ exitCode: 0 });
    await expect.poll(log, TIMEOUT).toMatch(new RegExp(`schedule ${pipeline}: scheduledRunFinished .*"canceled"`));
  }
  expect(values.map(({ pipeline }) => pipeline)).toEqual(['second', 'first']);
  await schedules.close();
}, 600_000);
