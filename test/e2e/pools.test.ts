import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  createWorkplace,
  makeSharedDirectory,
  parseLines,
  type Started,
  until,
  type Workplace,
} from './workplace-rig.ts';

let place: Workplace;
/** Beside the workplace, where containers see it. */
let shared: string;

/** A container fails when another one is in the pool at the same time. The first one stays as long as \`hold\` is there. */
const PIPELINE = `
version: 1
name: shared
pools: { license: 1 }
volumes: { ledger: {} }
params: { hold: "" }
steps:
  work:
    matrix: { n: [1, 2] }
    pools: { license: 1 }
    inputs: { ledger: { from: volumes.ledger, writable: true } }
    script: |
      mkdir /in/ledger/inside
      while [ -e "\${{ matrix.n == 1 ? params.hold : '' }}" ]; do sleep 0.1; done
      rmdir /in/ledger/inside
`;

beforeEach(() => {
  place = createWorkplace();
  shared = makeSharedDirectory();
  writeFileSync(join(place.directory, 'p.yaml'), PIPELINE);
});

afterEach(() => {
  rmSync(shared, { recursive: true, force: true });
  place.remove();
});

function saysOf(run: Started, status: string): boolean {
  const whole = run.stdout().slice(0, run.stdout().lastIndexOf('\n') + 1);
  return parseLines(whole).some((event) => event.type === 'cellChanged' && event.status === status);
}

test('two runners share a pool, one is killed while it holds a token, and is taken up again', async () => {
  const hold = join(shared, 'hold');
  writeFileSync(hold, '');
  const first = place.start(['run', 'p.yaml', '--json', '--param', `hold=${hold}`]);
  await until(() => saysOf(first, 'running'), 'the first run to hold the license');
  const second = place.start(['run', 'p.yaml', '--json']);
  const waits = /waits for pool license: needs 1, 1 of 1 are held by run \w+ step work\/n-1/;
  await until(() => waits.test(second.stdout()), 'the second run to wait for the license');
  first.process.kill('SIGKILL');
  await first.ended;
  const [begun] = (await place.runs()).filter(({ status }) => status === 'suspended');
  const resumed = place.start(['resume', begun!.runId]);
  rmSync(hold);
  expect(await second.ended).toMatchObject({ exitCode: 0 });
  expect(await resumed.ended).toMatchObject({ exitCode: 0 });
  expect(await place.containers()).toHaveLength(4);
  const versions = readdirSync(join(place.home, 'pools')).sort(
    (a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10),
  );
  const newest = readFileSync(join(place.home, 'pools', versions.at(-1)!), 'utf8');
  expect(JSON.parse(newest)).toMatchObject({ claims: [], waiting: [] });
});
