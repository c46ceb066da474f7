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
