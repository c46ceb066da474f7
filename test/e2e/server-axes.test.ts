import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cellStatuses } from './cell-statuses.ts';
import { CREDENTIALS, type Server, serveNew } from './served-rig.ts';
import { createWorkplace, type Ended, type Workplace } from './workplace-rig.ts';

const PIPELINE = `
version: 1
name: reads
volumes: { raw: { source: ./raw } }
axes: { read: { items: { files: "volumes.raw/*.txt" } } }
defaults: { cache: true }
steps:
  count:
    each: read
    inputs: { raw: "volumes.raw/\${{ each.read.path }}" }
    command: 'wc -c < /in/raw > /out/n'
    outputs: { n: /out }
  sum:
    command: 'cat /in/n/*/n > /out/all'
    inputs: { n: count.n }
    outputs: { all: /out }
outputs: { all: { from: sum.all, publish: results } }
`;

let place: Workplace;
let server: Server;

beforeAll(async () => {
  place = createWorkplace();
  mkdirSync(join(place.directory, 'raw'));
  writeFileSync(join(place.directory, 'pipeline.yaml'), PIPELINE);
  server = await serveNew(place);
});

afterAll(async () => {
  await server?.kill();
  place.remove();
});

const sluice = (...args: string[]): Promise<Ended> => place.start(args, { env: CREDENTIALS }).ended;

/** Has the server execute a run, and says how each cell of `count` came to its end. */
async function runCells(): Promise<string> {
  const run = await sluice('run', '--service', server.url);
  expect(run).toMatchObject({ stderr: '', exitCode: 0 });
  return cellStatuses(JSON.parse((await sluice('show', '--json')).stdout)).count!;
}

test('a server plans an axis over files of a source, and a new file runs only its own cell', async () => {
  for (const name of ['a', 'b']) writeFileSync(join(place.directory, `raw/${name}.txt`), `${name}\n`);
  expect(await runCells()).toBe('a succeeded, b succeeded');
  writeFileSync(join(place.directory, 'raw/c.txt'), 'a new one\n');
  expect(await runCells()).toBe('a reused, b reused, c succeeded');
  writeFileSync(join(place.directory, 'raw/b.txt'), 'changed\n');
  expect(await runCells()).toBe('a reused, b succeeded, c reused');
});
