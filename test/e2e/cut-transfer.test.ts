import { execFileSync } from 'node:child_process';
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CREDENTIALS, type Server, serveNew } from './served-rig.ts';
import { createWorkplace, parseLines, type Started, until, type Workplace } from './workplace-rig.ts';

let place: Workplace;
let server: Server | undefined;

const cluster = (id: string, cores: number) => `
  - id: ${id}
    engine: process
    capacity: { cpu: ${cores}, memory: 4GB }
    accounts: [physics]
    instanceTypes: [{ id: of-${id}, cpu: ${cores}, memory: 1GB }]`;

/** Some 80 MB: long enough under way to be cut. */
const PIPELINE = `
version: 1
name: large
steps:
  make:
    script: seq 1 10000000 > /out/large
    outputs: { data: /out }
  sum:
    placement: { cluster: west }
    script: cksum < /in/data/large > /out/sum
    inputs: { data: make.data }
    outputs: { sum: /out }
outputs:
  sum: { from: sum.sum, publish: ./published }
`;

const TEMPORARY = /^\.sluice-tmp-/;
const CUTS = 3;

beforeEach(async () => {
  place = createWorkplace();
  writeFileSync(join(place.directory, 'p.yaml'), PIPELINE);
  server = await serveNew(place, {
    clusters: cluster('east', 1) + cluster('west', 2),
    accounts: ['east/physics', 'west/physics'],
  });
});

afterEach(async () => {
  await server?.kill();
  place.remove();
});

/** Files of the service's clusters by their name. */
function findFiles(name: RegExp): string[] {
  const all = readdirSync(join(place.directory, 'data'), { recursive: true, encoding: 'utf8' });
  return all.filter((path) => name.test(basename(path))).map((path) => join(place.directory, 'data', path));
}

/** The bytes of a transfer that have arrived so far. */
function arrived(): number {
  return findFiles(TEMPORARY).reduce((sum, path) => sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0), 0);
}

async function killAtTransfer(run: Started): Promise<void> {
  await until(() => arrived() > 0 || run.process.exitCode !== null, 'a part of the file to arrive');
  run.process.kill('SIGKILL');
  const ended = await run.ended;
  expect(ended, ended.stderr).toMatchObject({ exitCode: undefined });
  await until(() => arrived() === 0, 'the service to clear away what was cut');
}

test('a transfer whose runner is killed in the middle, again and again, is whole in the end, and there once', async () => {
  const at = ['--service', server!.url, '--account', 'east/physics', '--json'];
  const env = CREDENTIALS;
  let run = place.start(['run', '--here', 'p.yaml', ...at], { env });
  await killAtTransfer(run);
  const { runId } = (await place.runs())[0]!;
  for (let cut = 1; cut < CUTS; cut++) {
    run = place.start(['resume', runId, ...at], { env });
    await killAtTransfer(run);
    expect(findFiles(/^large$/)).toHaveLength(1);
  }
  const last = await place.start(['resume', runId, ...at], { env }).ended;
  expect(last, last.stderr).toMatchObject({ exitCode: 0 });
  const brought = parseLines(last.stdout).filter((event) => event.type === 'transfer' && event.direction === 'across');
  expect(brought).toHaveLength(1);
  const copies = findFiles(/^large$/);
  expect(copies).toHaveLength(2);
  const sums = copies.map((path) => execFileSync('sh', ['-c', `cksum < "${path}"`], { encoding: 'utf8' }));
  expect([...sums, place.read('published/sum')]).toEqual(Array.from({ length: 3 }, () => sums[0]));
  const report = await place.show(runId);
  expect(report.steps.map(({ cells }) => cells.map(({ attempt }) => attempt))).toEqual([[1], [1]]);
});
