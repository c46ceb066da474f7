import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { decodeLine } from '../../packages/home/src/journal/line-codec.ts';
import { createDialectGateway, type DialectGateway } from './dialect-gateway.ts';
import { CREDENTIALS, type Server, serveNew } from './served-rig.ts';
import { createWorkplace, until, type Workplace } from './workplace-rig.ts';

let place: Workplace;
let server: Server;
let gateway: DialectGateway;

const PIPELINE = `
version: 1
name: greet
steps:
  say:
    command: [sh, -c, "sleep 2; echo hello > /out/text"]
    matrix: { n: [1, 2, 3, 4] }
    outputs: { text: /out }
  last: { command: [sh, -c, "ls /in/text > /out/names"], inputs: { text: say.text }, outputs: { names: /out } }
`;
const CONTAINERS = 5;

beforeEach(async () => {
  place = createWorkplace();
  writeFileSync(join(place.directory, 'p.yaml'), PIPELINE);
  server = await serveNew(place);
});

afterEach(async () => {
  await gateway?.close();
  await server?.kill();
  place.remove();
});

/** Each container was created once, for the first attempt of its cell. */
function expectNoneTwice(): void {
  expect(gateway.created).toHaveLength(CONTAINERS);
  expect(new Set(gateway.created).size).toBe(CONTAINERS);
  expect(gateway.created.filter((id) => !id.endsWith('-1'))).toEqual([]);
}

test('a service that writes times in its own way, changes the run of a container and is behind a gateway with pages', async () => {
  gateway = await createDialectGateway(server.url, ['page', 'pageAfter', 'page']);
  const run = await place.start(['run', '--here', 'p.yaml', '--service', gateway.url], { env: CREDENTIALS }).ended;
  expect(run).toMatchObject({ exitCode: 0 });
  expect(gateway.spoiled).toBe(3);
  expect(gateway.rewritten).toBeGreaterThan(CONTAINERS);
  expectNoneTwice();
});

/** Takes the intents at the end of the only run's journal away, as a disk that loses what it had confirmed. */
function loseIntents(): number {
  const runs = join(place.home, 'runs');
  const path = join(runs, readdirSync(runs)[0]!, 'journal.ndjson');
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
  const before = lines.length;
  while (decodeLine(Buffer.from(lines.at(-1)!))?.record.kind === 'intent') lines.pop();
  writeFileSync(path, `${lines.join('\n')}\n`);
  return before - lines.length;
}

test('a run whose last intents are missing from its journal finds their containers at a service that replies 400', async () => {
  gateway = await createDialectGateway(server.url, Array(4).fill('hang'));
  const started = place.start(['run', '--here', 'p.yaml', '--service', gateway.url], { env: CREDENTIALS });
  await until(() => gateway.created.length === 4, 'the containers');
  started.process.kill('SIGKILL');
  await started.ended;
  expect(loseIntents()).toBe(4);
  const resumed = await place.start(['resume', '--service', gateway.url], { env: CREDENTIALS }).ended;
  expect(resumed).toMatchObject({ exitCode: 0 });
  expectNoneTwice();
});
