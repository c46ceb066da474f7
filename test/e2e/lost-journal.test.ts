import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CREDENTIALS, type Server, serveNew } from './served-rig.ts';
import { createWorkplace, until, type Workplace } from './workplace-rig.ts';

let place: Workplace;
let server: Server | undefined;

/** The container runs until it finds the file `open`. */
const PIPELINE = `
version: 1
name: waits
volumes: { gate: {} }
steps:
  wait:
    script: |
      echo started >> /gate/starts
      until [ -e /gate/open ]; do sleep 0.1; done
      echo over > /out/file
    inputs: { gate: { from: volumes.gate, path: /gate, writable: true } }
    outputs: { made: /out }
outputs:
  made: { from: wait.made, publish: ./results }
`;

beforeEach(() => {
  place = createWorkplace();
  server = undefined;
  writeFileSync(join(place.directory, 'p.yaml'), PIPELINE);
});

afterEach(async () => {
  await server?.kill();
  place.remove();
});

/** Starts the run, and kills its runner while the container runs. */
async function leaveRunning(args: readonly string[] = [], env: NodeJS.ProcessEnv = {}): Promise<string> {
  const run = place.start(['run', '--here', 'p.yaml', '--json', ...args], { env });
  await until(() => run.stdout().includes('"status":"running"'), 'the container to run');
  run.process.kill('SIGKILL');
  await run.ended;
  const [begun] = await place.runs();
  return begun!.runId;
}

/** A directory that the container has mounted, by a file that it has made there. */
function findGate(root: string): string {
  const starts = readdirSync(root, { recursive: true, withFileTypes: true }).find(({ name }) => name === 'starts');
  return starts!.parentPath;
}

const directoryOf = (runId: string) => join(place.home, 'runs', runId);

test.each([
  ['missing', (journal: string) => rmSync(journal)],
  ['empty', (journal: string) => truncateSync(journal, 0)],
  ['cut off within its first record', (journal: string) => truncateSync(journal, 40)],
] as const)(
  'sluice resume of a run whose journal is %s finds its container, names adopt, and starts nothing',
  async (_, spoil) => {
    const runId = await leaveRunning();
    spoil(join(directoryOf(runId), 'journal.ndjson'));
    const rejected = await place.sluice('resume', runId);
    expect(rejected).toMatchObject({
      exitCode: 75,
      stderr: expect.stringMatching(/the service has 1 of its containers, 1 of them not ended \(s\w+-\w+-1\)/),
    });
    expect(rejected.stderr).toContain(`sluice adopt ${runId} (add its file`);
    expect(rejected.stderr).not.toContain('before it began');
    expect(await place.sluice('show', runId)).toMatchObject({
      exitCode: 75,
      stderr: expect.stringContaining(`sluice adopt ${runId} (add its file`),
    });
    expect(await place.sluice('adopt', runId, 'p.yaml')).toMatchObject({ exitCode: 0 });
    const gate = findGate(join(place.home, 'service'));
    writeFileSync(join(gate, 'open'), '');
    const resumed = await place.sluice('resume', runId);
    expect(resumed.exitCode, resumed.stdout + resumed.stderr).toBe(0);
    expect(place.read('results/file')).toBe('over\n');
    expect(await place.containers()).toHaveLength(1);
  },
);

test('sluice resume continues after a journal that was cut off behind its first records, and starts nothing twice', async () => {
  const runId = await leaveRunning();
  const journal = join(directoryOf(runId), 'journal.ndjson');
  const lines = place.read(join('.sluice/runs', runId, 'journal.ndjson')).split('\n');
  const header = lines.findIndex((line) => line.includes('"kind":"run"'));
  truncateSync(journal, Buffer.byteLength(lines.slice(0, header + 1).join('\n')) + 1);
  writeFileSync(join(findGate(join(place.home, 'service')), 'open'), '');
  const resumed = await place.sluice('resume', runId);
  expect(resumed.exitCode, resumed.stdout + resumed.stderr).toBe(0);
  expect(await place.containers()).toHaveLength(1);
});

test('sluice resume removes what is left of a run that was killed before its first record', async () => {
  const runId = await leaveRunning();
  const left = 'aaaaaaaaaaaaa';
  mkdirSync(directoryOf(left));
  for (const name of ['plan.json', 'lease.json']) {
    copyFileSync(join(directoryOf(runId), name), join(directoryOf(left), name));
  }
  const rejected = await place.sluice('resume', left);
  expect(rejected).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining(`run ${left} was interrupted before it began; nothing was started`),
  });
  expect(existsSync(directoryOf(left))).toBe(false);
  expect(await place.sluice('resume', left)).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining(`sluice adopt ${left} (add its file`),
  });
  writeFileSync(join(findGate(join(place.home, 'service')), 'open'), '');
  expect(await place.sluice('resume', runId)).toMatchObject({ exitCode: 0 });
});

test('sluice resume with a login that the service rejects ends with 3, says what to do, and changes nothing', async () => {
  server = await serveNew(place);
  const at = ['--service', server.url];
  const scope = ['--account', 'main/physics'];
  const runId = await leaveRunning(at, CREDENTIALS);
  for (const args of [at, [...at, ...scope]]) {
    const rejected = await place.start(['resume', runId, ...args], { env: { SLUICE_TOKEN: 'stale-token' } }).ended;
    expect(rejected).toMatchObject({
      exitCode: 3,
      stderr: expect.stringMatching(/401[\s\S]*SLUICE_TOKEN is wrong or expired; set another one/),
    });
    expect(rejected.stderr).not.toContain('stale-token');
  }
  rmSync(join(directoryOf(runId), 'journal.ndjson'));
  expect(await place.start(['resume', runId, ...at, ...scope], { env: { SLUICE_TOKEN: 'stale' } }).ended).toMatchObject(
    {
      exitCode: 3,
      stderr: expect.stringMatching(
        /the journal of run \w+ is missing[\s\S]*401[\s\S]*SLUICE_TOKEN is wrong or expired/,
      ),
    },
  );
  const adopted = await place.start(['adopt', runId, 'p.yaml', ...at], { env: CREDENTIALS }).ended;
  expect(adopted, adopted.stderr).toMatchObject({ exitCode: 0 });
  writeFileSync(join(findGate(join(place.directory, 'data')), 'open'), '');
  const resumed = await place.start(['resume', runId, ...at], { env: CREDENTIALS }).ended;
  expect(resumed.exitCode, resumed.stdout + resumed.stderr).toBe(0);
  expect(place.read('results/file')).toBe('over\n');
});
