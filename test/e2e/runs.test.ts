import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createWorkplace, parseLines, type Workplace } from './workplace-rig.ts';

const pipeline = (name: string, command: string, team: string) =>
  `version: 1\nname: ${name}\nlabels: { team: ${team} }\nsteps: { step: { command: [${command}] } }\n`;

let place: Workplace;

beforeAll(async () => {
  place = createWorkplace();
  writeFileSync(join(place.directory, 'good.yaml'), pipeline('good', '"true"', 'vision'));
  writeFileSync(join(place.directory, 'bad.yaml'), pipeline('bad', '"false"', 'speech'));
  for (const file of ['good.yaml', 'bad.yaml', 'good.yaml']) await place.sluice('run', '--quiet', file);
  // A list reads only the summaries.
  const run = { pipeline: 'old', createdAt: 1_700_000_000_000, status: 'succeeded', endedAt: 1_700_000_001_000 };
  for (let i = 0; i < 60; i++) {
    const directory = join(
      place.home,
      'runs',
      `${'a'.repeat(11)}${'abcdefghij'[Math.floor(i / 10)]}${'abcdefghij'[i % 10]}`,
    );
    mkdirSync(directory);
    writeFileSync(join(directory, 'summary.json'), JSON.stringify(run));
  }
});

afterAll(() => place.remove());

async function list(...args: string[]): Promise<string[]> {
  const { exitCode, stdout, stderr } = await place.sluice('runs', '--json', ...args);
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
  return parseLines<{ pipeline: string }>(stdout).map((run) => run.pipeline);
}

test('runs are selected by status, pipeline, label and age', async () => {
  expect(await list('--status', 'failed')).toEqual(['bad']);
  expect(await list('--status', 'failed', '--status', 'succeeded', '--since', '1d')).toEqual(['good', 'bad', 'good']);
  expect(await list('--pipeline', 'good', '-n', '1')).toEqual(['good']);
  expect(await list('--label', 'team=vision', '--label', 'team')).toEqual(['good', 'good']);
  expect(await list('--since', '2023-11-01', '--pipeline', 'old')).toHaveLength(60);
  expect(await list('--since', '2023-12-01T00:00:00Z', '--pipeline', 'old')).toEqual([]);
  expect(await list()).toHaveLength(63);
});

test('a table has the newest 50, and says how many more there are', async () => {
  const { stdout, stderr } = await place.sluice('runs');
  expect(stdout.trimEnd().split('\n')).toHaveLength(51);
  expect(stderr).toBe('13 older runs are not shown; show all with --all\n');
  expect((await place.sluice('runs', '--all')).stdout.trimEnd().split('\n')).toHaveLength(64);
  expect(await place.sluice('runs', '-n', '2')).toMatchObject({ stderr: '' });
});

test.each([
  [['--status', 'faild'], 'the status faild; did you mean `failed`?'],
  [['--since', 'yesterday'], 'since yesterday: write a duration such as 7d'],
  [['--since', '2026-13-01'], 'since 2026-13-01'],
])('rejects %j', async (args, message) => {
  expect(await place.sluice('runs', ...args)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(message) });
});

test('labels of a run are those of its file, and those of the command, also of its reruns', async () => {
  const labeled = createWorkplace();
  try {
    writeFileSync(join(labeled.directory, 'pipeline.yaml'), pipeline('good', '"true"', 'vision'));
    const started = await labeled.sluice('run', '--quiet', '--label', 'team=speech', '--label', 'why=a=b');
    expect(started).toMatchObject({ exitCode: 0 });
    const again = await labeled.sluice('rerun', '--all', '--quiet', '--label', 'why=again', '--label', 'n=');
    expect(again).toMatchObject({ exitCode: 0 });
    const list = async (...args: string[]) => {
      const { stdout } = await labeled.sluice('runs', '--json', ...args);
      return parseLines<{ labels: object }>(stdout).map(({ labels }) => labels);
    };
    const [first, second] = [
      { team: 'speech', why: 'a=b' },
      { team: 'speech', why: 'again', n: '' },
    ];
    expect(await list()).toEqual([second, first]);
    expect(await list('--label', 'why=a=b')).toEqual([first]);
    const shown = await labeled.sluice('show', '--json');
    expect(JSON.parse(shown.stdout)).toMatchObject({ labels: second, order: { labels: second } });
    for (const label of ['sluice-run=x', `${'n'.repeat(300)}=x`, `n=${'x'.repeat(5_000)}`, 'nothing']) {
      expect(await labeled.sluice('run', '--label', label)).toMatchObject({ exitCode: 2 });
    }
    expect(await list()).toHaveLength(2);
  } finally {
    labeled.remove();
  }
});
