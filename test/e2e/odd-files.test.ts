import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CREDENTIALS, type Server, serveNew } from './served-rig.ts';
import { createWorkplace, type Workplace } from './workplace-rig.ts';

let place: Workplace;
let server: Server | undefined;

beforeEach(() => {
  place = createWorkplace();
});

afterEach(async () => {
  await server?.kill();
  server = undefined;
  place.remove();
});

const PIPELINE = `
version: 1
name: odd
volumes: { raw: { source: ./raw } }
steps:
  copy:
    script: cp -a /in/raw/. /out/ && ln -s /out/data.txt /out/absolute && mkfifo /out/fifo
    inputs: { raw: volumes.raw }
    outputs: { all: /out }
outputs:
  all: { from: copy.all, publish: ./results }
`;

/** What a directory holds: kinds, names as bytes, targets, executable bits. */
function describe(directory: string): string[] {
  const format = '%y %P %l %m\\0';
  const found = execFileSync('find', [directory, '-mindepth', '1', '-printf', format], { encoding: 'latin1' });
  return found
    .split('\0')
    .filter((line) => line !== '' && !line.includes('.sluice-result.json'))
    .map((line) =>
      line.replace(/(\d+)$/, (mode) => (line.startsWith('f') && Number.parseInt(mode, 8) & 0o100 ? 'x' : '-')),
    )
    .sort();
}

function fillSource(): string[] {
  const raw = join(place.directory, 'raw');
  mkdirSync(join(raw, 'sub/links'), { recursive: true });
  mkdirSync(join(raw, 'empty'));
  writeFileSync(join(raw, 'data.txt'), 'data');
  writeFileSync(join(raw, 'data.txt.sluice-part'), 'part');
  writeFileSync(join(raw, 'run.sh'), '#!/bin/sh\n');
  chmodSync(join(raw, 'run.sh'), 0o755);
  writeFileSync(Buffer.concat([Buffer.from(`${raw}/caf`), Buffer.from([0xe9])]), 'latin-1');
  for (const [target, at] of [
    ['data.txt', 'latest'],
    ['nothing', 'dangling'],
    ['..', 'sub/up'],
    ['../../run.sh', 'sub/links/run'],
  ] as const) {
    symlinkSync(target, join(raw, at));
  }
  const expected = describe(raw);
  execFileSync('mkfifo', [join(raw, 'pipe')]);
  return expected;
}

async function runAndCompare(...at: string[]): Promise<void> {
  const expected = fillSource();
  writeFileSync(join(place.directory, 'p.yaml'), PIPELINE);
  const ended = await place.start(['run', 'p.yaml', ...at], { env: CREDENTIALS }).ended;
  expect(ended, ended.stdout + ended.stderr).toMatchObject({ exitCode: 0 });
  expect(describe(join(place.directory, 'results'))).toEqual(expected);
  expect(place.read('results/data.txt')).toBe('data');
  const said = ended.stdout + ended.stderr;
  expect(said).toContain('left out pipe, which is a named pipe');
  expect(said).toContain('the link absolute -> /out/data.txt leads out of the output');
  expect(await place.start(['pull', 'all', '--to', 'pulled', ...at], { env: CREDENTIALS }).ended).toMatchObject({
    exitCode: 0,
  });
  expect(describe(join(place.directory, 'pulled/all'))).toEqual(expected);
}

test('names, links and executable bits come through a run as they are', async () => {
  await runAndCompare();
});

test('names, links and executable bits come through a run on a service over the network as they are', async () => {
  server = await serveNew(place);
  await runAndCompare('--service', server.url, '--account', 'main/physics');
});

test('a source with a link that leads out is rejected by the name of the link', async () => {
  mkdirSync(join(place.directory, 'raw'));
  symlinkSync('/etc/passwd', join(place.directory, 'raw/passwd'));
  writeFileSync(join(place.directory, 'p.yaml'), PIPELINE);
  const rejected = await place.sluice('run', 'p.yaml');
  expect(rejected).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('"passwd -> /etc/passwd"') });
});
