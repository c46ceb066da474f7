import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CREDENTIALS, configure, type Server, serve, serveNew } from './served-rig.ts';
import { createWorkplace, type Ended, parseLines, until, type Workplace } from './workplace-rig.ts';

const PIPELINE = `
version: 1
name: archived
failFast: false
steps:
  fails: { command: 'echo the reason; exit 7' }
  succeeds: { command: 'echo done' }
`;

let place: Workplace;
let server: Server;

beforeAll(async () => {
  place = createWorkplace();
  writeFileSync(join(place.directory, 'pipeline.yaml'), PIPELINE);
  server = await serveNew(place);
});

afterAll(async () => {
  await server?.kill();
  place.remove();
});

const sluice = (...args: string[]): Promise<Ended> => place.start(args, { env: CREDENTIALS }).ended;

test('the log of a failure on a server can be read after its container was deleted', async () => {
  const begun = await sluice('run', '--service', server.url, '--detach', '--json');
  const { runId } = parseLines<{ runId: string }>(begun.stdout).at(-1)!;
  const onServer = join(place.directory, 'data/hosted/main/physics/runs', runId);
  const hasEnded = () =>
    !existsSync(join(onServer, 'custody.json')) &&
    readFileSync(join(onServer, 'journal.ndjson'), 'utf8').includes('"finished"');
  await until(hasEnded, 'the run to end');

  // The service deletes ended containers at once.
  await server.kill();
  configure(place, { port: Number(new URL(server.url).port), extra: 'retention: { containers: 86ms }' });
  server = await serve(place);
  const logs = (step: string, ...more: string[]) => sluice('logs', '-r', runId, step, ...more);
  await until(async () => (await logs('succeeds')).exitCode === 2, 'the containers to be deleted');
  await until(async () => (await logs('fails')).stdout === 'the reason\n', 'the log');
  expect(existsSync(join(place.home, 'runs', runId, 'logs'))).toBe(false);
  expect(await logs('fails', '--tail', '1')).toMatchObject({ exitCode: 0, stdout: 'the reason\n' });
});

test('the log of a failure on another service is read from the archive without a login for that service', async () => {
  expect(await sluice('run', '--here', '--service', server.url)).toMatchObject({ exitCode: 1 });
  const [newest] = await place.runs();
  const logs = (step: string) => place.sluice('logs', '-r', newest?.runId ?? '', step);
  expect(await logs('fails')).toEqual({
    ...{ exitCode: 0, stdout: 'the reason\n' },
    stderr: expect.stringMatching(
      /^warning: this is the log that was archived when the attempt had failed: .*log in.*\n$/,
    ),
  });
  expect(await logs('succeeds')).toMatchObject({ exitCode: 2, stdout: '' });
  expect(await sluice('logs', '-r', newest?.runId ?? '', 'fails')).toEqual({
    ...{ exitCode: 0, stdout: 'the reason\n', stderr: '' },
  });
});
