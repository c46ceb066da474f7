import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createWorkplace, parseLines, until, type Workplace } from './workplace-rig.ts';

const page = readFileSync(new URL('../../docs/schedules.md', import.meta.url), 'utf8');
const block = (language: string) => new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'ms').exec(page)![1]!;
const EXAMPLE = block('yaml');

let place: Workplace;

beforeEach(() => {
  place = createWorkplace();
  write('report.yaml', EXAMPLE);
});

afterEach(() => place.remove());

function write(name: string, text: string): void {
  writeFileSync(join(place.directory, name), text);
}

test('docs/schedules.md shows what sluice schedule backfill prints, and a second backfill runs nothing', async () => {
  const args = block('sh').trim().split(' ').slice(1);
  const first = await place.sluice(...args);
  expect(first).toMatchObject({ exitCode: 0, stderr: '' });
  expect(hideRuns(first.stdout)).toBe(hideRuns(block('text')));
  const runs = await place.runs();
  const logs: string[] = [];
  for (const { runId } of runs) logs.push((await place.sluice('logs', '-r', runId, 'count')).stdout);
  expect(logs.toSorted()).toEqual([
    'counted up to 2025-03-29T01:30:00Z\n',
    'counted up to 2025-03-30T01:00:00Z\n',
    'counted up to 2025-03-31T00:30:00Z\n',
  ]);
  const second = await place.sluice(...args);
  expect(second).toMatchObject({ exitCode: 0 });
  expect(second.stdout).toMatch(/^(report .*: skipped: run \w{13} of that time succeeded before\n){3}$/);
  expect(await place.runs()).toHaveLength(3);
});

test('sluice schedule run waits until it receives a signal', async () => {
  const started = place.start(['schedule', 'run', 'report.yaml', '--json']);
  await until(() => started.stdout().includes('\n'), 'its first line');
  started.process.kill('SIGTERM');
  const { exitCode, stdout } = await started.ended;
  expect(exitCode).toBe(0);
  expect(parseLines(stdout)).toMatchObject([{ type: 'scheduleWatched', seq: 1, schedule: 'report' }]);
});

test('a run of a schedule is not suspended, since its schedule would resume it', async () => {
  const schedule = '{ cron: "0 2 * * *", timezone: UTC }';
  write('slow.yaml', `version: 1\nname: slow\nschedule: ${schedule}\nsteps: { sleep: { command: [sleep, "3600"] } }\n`);
  const backfill = place.start(['schedule', 'backfill', '2025-03-29..2025-03-29', 'slow.yaml']);
  await until(async () => (await place.runs()).some(({ status }) => status === 'running'), 'the run');
  const [run] = await place.runs();
  expect(await place.sluice('suspend')).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining(`would resume it; to end it: sluice cancel ${run!.runId}`),
  });
  expect((await place.sluice('cancel', run!.runId)).exitCode).toBe(0);
  await backfill.ended;
});

test('sluice schedule run --once runs nothing that was planned before it was first looked after', async () => {
  expect(await place.sluice('schedule', 'run', '--once', 'report.yaml')).toEqual({
    exitCode: 0,
    stdout: '',
    stderr: '',
  });
});

test('sluice schedule run --once warns when another file of the same name ran in between', async () => {
  write('other.yaml', EXAMPLE.replace('30 2 * * *', '0 * * * *'));
  await place.sluice('schedule', 'run', '--once', 'report.yaml');
  const { exitCode, stdout } = await place.sluice('schedule', 'run', '--once', 'other.yaml');
  expect(exitCode).toBe(0);
  const change = '30 2 * * * Europe/Berlin at the last start, 0 * * * * Europe/Berlin now';
  expect(stdout).toContain(`report: warning: the times have changed (${change}): `);
});

test('sluice schedule next lists the next times of all files in order', async () => {
  write('other.yaml', EXAMPLE.replace('name: report', 'name: other').replace('30 2 * * *', '0 * * * *'));
  const { exitCode, stdout } = await place.sluice('schedule', 'next', '-n', '30', 'report.yaml', 'other.yaml');
  expect(exitCode).toBe(0);
  const lines = stdout.trimEnd().split('\n');
  expect(lines).toHaveLength(30);
  expect(lines.every((line) => /^\d{4}-\d\d-\d\d \d\d:\d\d \+0[12]:00 {2}(report|other)$/.test(line))).toBe(true);
  expect(lines.some((line) => line.endsWith('report'))).toBe(true);
});

test.each([
  ['two files with one name', ['run', 'report.yaml', 'report.yaml'], 'another file also defines the pipeline report'],
  ['a file without a schedule', ['run', 'plain.yaml'], 'it has no `schedule`'],
  ['an expression that never comes', ['run', 'never.yaml'], 'never matches any time'],
  ['a range that is no range', ['backfill', 'yesterday', 'report.yaml'], 'could not read the range "yesterday"'],
  ['a range to come', ['backfill', '2025-01-01..2999-01-01', 'report.yaml'], 'ends in the future'],
  ['to pause a schedule that was never started', ['pause', 'report'], 'this home has no schedule report'],
])('sluice schedule rejects %s', async (_, args, reason) => {
  write('plain.yaml', 'version: 1\nname: p\nsteps:\n  a: { command: [echo] }\n');
  write('never.yaml', EXAMPLE.replace('30 2 * * *', '0 0 31 2 *'));
  const { exitCode, stderr } = await place.sluice('schedule', ...args);
  expect(exitCode).toBe(2);
  expect(stderr).toContain(reason);
  expect(await place.runs()).toEqual([]);
});

test('sluice schedule pause and unpause persist, and list shows them', async () => {
  const list = async () => (await place.sluice('schedule', 'list')).stdout;
  await place.sluice('schedule', 'run', '--once', 'report.yaml');
  expect(await list()).toMatch(
    /^SCHEDULE +FILE +OPTIONS +NEXT +PAUSED\nreport +report\.yaml +- +\d{4}-.* \+0[12]:00 +no\n$/,
  );
  const paused = await place.sluice('schedule', 'pause', 'report');
  expect(paused).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('sluice schedule unpause report') });
  expect(await list()).toMatch(/^report +report\.yaml +- +- +since \d{4}-/m);
  expect(await place.sluice('schedule', 'run', '--once', 'report.yaml')).toMatchObject({
    exitCode: 0,
    stdout: expect.stringMatching(/^report: paused by .* at .*; no planned time is run\n$/),
  });
  expect(JSON.parse((await place.sluice('schedule', 'list', '--json')).stdout)).toMatchObject({
    ...{ type: 'schedule', schedule: 'report', file: join(place.directory, 'report.yaml'), paused: true },
  });
  expect(await place.sluice('schedule', 'unpause', 'report')).toMatchObject({ exitCode: 0 });
  expect(await list()).toMatch(/ no\n$/);
});

test('sluice check and sluice run reject a schedule that can never run', async () => {
  for (const cron of ['0 0 31 2 *', '*/70 * * * *']) {
    write('never.yaml', EXAMPLE.replace('30 2 * * *', cron));
    for (const command of ['check', 'plan', 'run']) {
      expect(await place.sluice(command, 'never.yaml')).toMatchObject({
        exitCode: 2,
        stderr: expect.stringContaining(`"${cron}"`),
      });
    }
  }
});

/** Numbers the runs instead of naming them, so that texts with other runs can be compared. */
function hideRuns(text: string): string {
  const runs: string[] = [];
  return text.replace(/(?<=run )[a-z2-7]{13}/g, (runId) => {
    if (!runs.includes(runId)) runs.push(runId);
    return `#${runs.indexOf(runId)}`;
  });
}
