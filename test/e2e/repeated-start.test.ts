import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CREDENTIALS, serveNew } from './served-rig.ts';
import { createWorkplace, parseLines, type Started, until, type Workplace } from './workplace-rig.ts';

const PIPELINE = `version: 1
name: once
steps: { wait: { command: [sleep, "1000"] } }
`;

let place: Workplace;
let server: Awaited<ReturnType<typeof serveNew>>;
let ui: Started | undefined;

beforeEach(async () => {
  place = createWorkplace();
  writeFileSync(join(place.directory, 'pipeline.yaml'), PIPELINE);
  server = await serveNew(place);
});

afterEach(async () => {
  ui?.process.kill('SIGKILL');
  await ui?.ended;
  await server.kill();
  place.remove();
});

const env = () => ({ ...CREDENTIALS, SLUICE_SERVICE: server.url });

async function startUi() {
  const started = place.start(['ui', '--listen', '127.0.0.1:0', '--json'], { isEndless: true, env: env() });
  ui = started;
  await until(() => started.stdout().includes('\n'), 'the link');
  const { url, token } = JSON.parse(readFileSync(join(place.home, 'host', 'api.json'), 'utf8')) as Record<
    string,
    string
  >;
  return async () => {
    const reply = await fetch(`${url}/runs`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}`, 'idempotency-key': 'build-42' },
      body: JSON.stringify({ file: join(place.directory, 'pipeline.yaml') }),
    });
    return { status: reply.status, value: (await reply.json()) as { runId: string } };
  };
}

test('a start on a server is repeated under the same run ID after its reply was lost', async () => {
  const post = await startUi();
  const first = await post();
  expect(first).toMatchObject({ status: 200 });
  const replies = join(place.home, 'host', 'replies');
  for (const name of readdirSync(replies)) {
    const { reply: _, ...stored } = JSON.parse(readFileSync(join(replies, name), 'utf8')) as { reply: object };
    writeFileSync(join(replies, name), JSON.stringify(stored));
  }
  expect(await post()).toMatchObject({ status: 200, value: { runId: first.value.runId } });
  const listed = await place.start(['runs', '--json', '--service', server.url], { env: env() }).ended;
  expect(parseLines<{ runId: string }>(listed.stdout).map(({ runId }) => runId)).toEqual([first.value.runId]);
  await place.start(['cancel', first.value.runId], { env: env() }).ended;
});
