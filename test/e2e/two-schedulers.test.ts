import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CREDENTIALS, type Server, serveNew } from './served-rig.ts';
import { createWorkplace, until, type Workplace } from './workplace-rig.ts';

let place: Workplace;
let server: Server | undefined;

const MINUTE = 60_000;
/** Planned times that nobody has looked after. */
const OUTAGE = 10 * MINUTE;

/** A second run of one planned time would fail. */
const PIPELINE = `
version: 1
name: minutes
schedule: { cron: "* * * * *", overlap: queue, catchup: all }
volumes: { ledger: {} }
steps:
  note:
    script: mkdir "/in/ledger/\${{ run.plannedTime }}"
    inputs: { ledger: { from: volumes.ledger, writable: true } }
`;

beforeEach(async () => {
  place = createWorkplace();
  writeFileSync(join(place.directory, 'p.yaml'), PIPELINE);
  server = await serveNew(place);
});

afterEach(async () => {
  await server?.kill();
  place.remove();
});

interface StartRecord {
  readonly decision: string;
  readonly planned: number;
  readonly runId: string;
}

test('two schedulers, killed in turn, run each planned time of an outage once', async () => {
  const records = join(place.home, 'schedules/minutes');
  const scheduler = (...more: string[]) =>
    place.start(['schedule', 'run', ...more, 'p.yaml', '--service', server!.url], {
      env: CREDENTIALS,
      isEndless: true,
    });
  expect(await scheduler('--once').ended).toMatchObject({ exitCode: 0 });
  const watched = JSON.parse(readFileSync(join(records, 'watched.json'), 'utf8'));
  const since = watched.since - OUTAGE;
  writeFileSync(join(records, 'watched.json'), JSON.stringify({ ...watched, since }));
  const started = () =>
    readdirSync(records)
      .filter((name) => /^\d{4}-.*\.json$/.test(name))
      .sort()
      .map((name) => JSON.parse(readFileSync(join(records, name), 'utf8')) as StartRecord);
  const over = async () => (await place.runs()).filter(({ status }) => status !== 'suspended' && status !== 'running');

  const running = [scheduler(), scheduler()];
  for (const [kill, count] of [1, 2, 3, 5, 7].entries()) {
    await until(async () => (await over()).length >= count, `${count} runs to end`);
    const unlucky = running[kill % 2]!;
    unlucky.process.kill('SIGKILL');
    await unlucky.ended;
    running[kill % 2] = scheduler();
  }
  await until(async () => (await over()).length >= OUTAGE / MINUTE, 'every planned time to have run');
  for (const { process } of running) process.kill('SIGTERM');
  await Promise.all(running.map(({ ended }) => ended));
  // What was just beginning at that moment.
  await scheduler('--once').ended;

  const all = started();
  const first = Math.floor(since / MINUTE + 1) * MINUTE;
  expect(all.map(({ planned }) => planned)).toEqual(all.map((_, index) => first + index * MINUTE));
  expect(all.length).toBeGreaterThanOrEqual(OUTAGE / MINUTE);
  expect(all.map(({ decision }) => decision)).toEqual(all.map(() => 'start'));
  const runs = await place.runs();
  expect(runs.map(({ runId }) => runId).sort()).toEqual(all.map(({ runId }) => runId).sort());
  expect(new Set(runs.map(({ status }) => status))).toEqual(new Set(['succeeded']));
});
