import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CREDENTIALS, type Server, serveNew } from './served-rig.ts';
import { createWorkplace, parseLines, type Workplace } from './workplace-rig.ts';

let place: Workplace;
let server: Server | undefined;

const CLUSTERS = `
  - id: east
    engine: process
    capacity: { cpu: 2, memory: 2GB }
    accounts: [physics]
    instanceTypes: [{ id: small, cpu: 1, memory: 1GB }]
  - id: west
    engine: process
    capacity: { cpu: 8, memory: 8GB }
    accounts: [physics]
    instanceTypes: [{ id: large, cpu: 4, memory: 4GB }]`;

const PIPELINE = `
version: 1
name: across
volumes: { words: { source: ./words } }
steps:
  make:
    matrix: { n: [1, 2, 3] }
    script: |
      echo "part \${{ matrix.n }}" > /out/part
      mkdir -p /out/deep/empty
    outputs: { parts: /out }
  join:
    resources: { cpu: 3 }
    script: cat /in/words/first /in/parts/*/part > /out/joined; wc -l < /out/joined > /sluice/results/lines
    inputs: { parts: make.parts, words: volumes.words }
    outputs: { text: /out }
    results: { lines: integer }
  far:
    placement: { anyOf: [east, west] }
    script: tr a-z A-Z < /in/text/joined > /out/loud
    inputs: { text: join.text }
    outputs: { text: /out }
  near:
    placement: { cluster: east }
    script: sort -r /in/text/loud > /out/sorted
    inputs: { text: far.text }
    outputs: { text: /out }
outputs:
  loud: { from: far.text, publish: ./loud }
  sorted: { from: near.text, publish: ./sorted }
`;

/** Rows that stay on their own cluster, and a table of all of them. */
const ROWS = `
version: 1
name: rows
params:
  samples: [{ id: S1, at: west }, { id: S2, at: east }]
axes: { sample: { items: "\${{ params.samples }}", key: "\${{ item.id }}" } }
steps:
  make:
    each: sample
    placement: { cluster: "\${{ each.sample.at }}" }
    script: echo "\${{ each.sample.id }} in \${{ each.sample.at }}" > /out/row
    outputs: { rows: /out }
  use:
    each: sample
    placement: { anyOf: [east, "\${{ each.sample.at }}"] }
    script: tr a-z A-Z < /in/rows/row > /out/row
    inputs: { rows: make.rows }
    outputs: { rows: /out }
  table:
    placement: { cluster: east }
    script: cat /in/rows/*/row > /out/table
    inputs: { rows: use.rows }
    outputs: { table: /out }
outputs: { table: { from: table.table, publish: ./table } }
`;

beforeEach(async () => {
  place = createWorkplace();
  mkdirSync(join(place.directory, 'words'));
  writeFileSync(join(place.directory, 'words/first'), 'words\n');
  writeFileSync(join(place.directory, 'p.yaml'), PIPELINE);
  server = await serveNew(place, { clusters: CLUSTERS, accounts: ['east/physics', 'west/physics'] });
});

afterEach(async () => {
  await server?.kill();
  place.remove();
});

test('one run works on two clusters, which share nothing: data is brought across, each tree once', async () => {
  const env = CREDENTIALS;
  const at = ['p.yaml', '--service', server!.url, '--account', 'east/physics'];
  const planned = await place.start(['plan', ...at], { env }).ended;
  expect(planned).toMatchObject({ exitCode: 0, stderr: '' });
  expect(planned.stdout).toMatch(/join +1 +make +large +west/);
  expect(planned.stdout).toMatch(/copies make\.parts from east to west, for join\ncopies far\.text from west to east/);

  const run = await place.start(['run', '--here', ...at, '--json'], { env }).ended;
  expect(run).toMatchObject({ exitCode: 0, stderr: '' });
  expect(readFileSync(join(place.directory, 'loud/loud'), 'utf8')).toBe('WORDS\nPART 1\nPART 2\nPART 3\n');
  expect(readFileSync(join(place.directory, 'sorted/sorted'), 'utf8')).toBe('WORDS\nPART 3\nPART 2\nPART 1\n');
  const events = parseLines(run.stdout);
  const brought = events.filter((event) => event.type === 'transfer' && event.direction === 'across' && event.done);
  expect(brought.map((event) => event.type === 'transfer' && event.name).sort()).toEqual([
    'far.text',
    ...Array.from({ length: 3 }, () => 'make.parts'),
    'words',
  ]);
  const runId = (await place.runs())[0]!.runId;
  const report = await place.show(runId);
  const clusters = report.steps.map(({ step: name, cells }) => `${name} ${cells[0]?.clusterId}`);
  expect(clusters).toEqual(['make east', 'join west', 'far west', 'near east']);
  const pulled = await place.start(['pull', '-r', runId, 'loud', '--to', 'pulled', ...at.slice(1)], { env }).ended;
  expect(pulled, pulled.stderr).toMatchObject({ exitCode: 0 });
});

test('each row of a table runs on the cluster that it names', async () => {
  writeFileSync(join(place.directory, 'rows.yaml'), ROWS);
  const env = CREDENTIALS;
  const at = ['rows.yaml', '--service', server!.url, '--account', 'east/physics'];
  const planned = await place.start(['plan', ...at], { env }).ended;
  expect(planned).toMatchObject({ exitCode: 0, stderr: '' });
  expect(planned.stdout).toMatch(/make +2 +- +large, small +1 cell on west, 1 cell on east/);
  expect(planned.stdout).toContain('\ncopies use.rows from west to east, for table\n\n');
  expect(planned.stdout).not.toContain('copies make.rows');
  const asJson = await place.start(['plan', ...at, '--json'], { env }).ended;
  expect(JSON.parse(asJson.stdout)).toMatchObject({
    steps: [
      { step: 'make', cells: [{ cell: 'S1', instanceType: 'large', clusterIds: ['west'] }, { clusterIds: ['east'] }] },
      { step: 'use', cells: [{ cell: 'S1', clusterIds: ['west', 'east'] }, { clusterIds: ['east'] }] },
      { step: 'table', clusterIds: ['east'] },
    ],
  });

  const typo = ['-p', 'samples=[{"id":"S1","at":"wset"}]'];
  const rejected = await place.start(['run', '--here', ...at, ...typo], { env }).ended;
  expect(rejected.exitCode).not.toBe(0);
  expect(rejected.stderr).toContain('step make, cell S1: there is no account on cluster wset');
  expect(await place.runs()).toEqual([]);

  const run = await place.start(['run', '--here', ...at, '--json'], { env }).ended;
  expect(run).toMatchObject({ exitCode: 0, stderr: '' });
  expect(readFileSync(join(place.directory, 'table/table'), 'utf8')).toBe('S1 IN WEST\nS2 IN EAST\n');
  const events = parseLines(run.stdout);
  const brought = events.filter((event) => event.type === 'transfer' && event.direction === 'across' && event.done);
  expect(brought.map((event) => event.type === 'transfer' && event.name)).toEqual(['use.rows']);
  const report = await place.show((await place.runs())[0]!.runId);
  const clusters = report.steps.map(({ step: name, cells }) => [name, ...cells.map(({ clusterId }) => clusterId)]);
  expect(clusters).toEqual([
    ['make', 'west', 'east'],
    ['use', 'west', 'east'],
    ['table', 'east'],
  ]);
});
