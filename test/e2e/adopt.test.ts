import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createWorkplace, until, type Workplace } from './workplace-rig.ts';

let place: Workplace;

beforeEach(() => {
  place = createWorkplace();
});

afterEach(() => place.remove());

/** Every container writes a line into the ledger when it starts. */
const PIPELINE = `
version: 1
name: books
volumes:
  books: {}
steps:
  seed:
    command: [sh, -c, "echo seed >> /books/ledger; echo 1 > /out/n"]
    inputs: { books: { from: volumes.books, path: /books, writable: true } }
    outputs: { n: /out }
  grow:
    matrix: { by: [2, 3] }
    command: [sh, -c, "echo grow >> /books/ledger; sleep 2; expr $(cat /in/n/n) + \${{ matrix.by }} > /out/n"]
    inputs: { n: seed.n, books: { from: volumes.books, path: /books, writable: true } }
    outputs: { n: /out }
  gather:
    command: [sh, -c, "echo gather >> /books/ledger; cat /in/n/*/n > /out/all"]
    inputs: { n: grow.n, books: { from: volumes.books, path: /books, writable: true } }
    outputs: { all: /out }
outputs:
  all: { from: gather.all, publish: ./results }
`;

test('sluice adopt and resume give back a run that was killed and whose records are lost, starting nothing twice', async () => {
  writeFileSync(join(place.directory, 'p.yaml'), PIPELINE);
  const run = place.start(['run', 'p.yaml', '--json']);
  await until(() => run.stdout().split('"status":"running"').length > 3, 'the cells to run');
  run.process.kill('SIGKILL');
  await run.ended;
  const [begun] = await place.runs();
  const runId = begun!.runId;
  rmSync(join(place.home, 'runs', runId), { recursive: true });
  expect(await place.runs()).toEqual([]);

  const adopted = await place.sluice('adopt', runId, 'p.yaml', '--label', 'team=research');
  expect(adopted).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(`sluice resume ${runId}`) });
  expect(adopted.stdout).toMatch(/^seed +1 +Succeeded$/m);
  expect(adopted.stdout).toMatch(/^grow\/by-2 +1 +(Running|Succeeded)$/m);
  expect(await place.sluice('adopt', runId, 'p.yaml')).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('has its journal'),
  });

  const labeled = await place.sluice('runs', '--label', 'team=research', '--json');
  expect(JSON.parse(labeled.stdout)).toMatchObject({ runId });
  const resumed = await place.sluice('resume', runId);
  expect(resumed.exitCode, resumed.stdout + resumed.stderr).toBe(0);
  expect(place.read('results/all')).toBe('3\n4\n');
  expect(readLedger()).toEqual(['gather', 'grow', 'grow', 'seed']);
  expect(await place.containers()).toHaveLength(4);
});

/** What the containers themselves say was started. */
function readLedger(): string[] {
  const files = readdirSync(join(place.home, 'service'), { recursive: true, withFileTypes: true });
  const ledger = files.find(({ name }) => name === 'ledger');
  return readFileSync(join(ledger!.parentPath, 'ledger'), 'utf8').trimEnd().split('\n').sort();
}
