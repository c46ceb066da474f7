import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CREDENTIALS, serveNew } from './served-rig.ts';
import { createWorkplace, parseLines, until, type Workplace } from './workplace-rig.ts';

const PIPELINE = `version: 1
name: frozen
steps: { wait: { command: [sleep, "1000"], outputs: { o: /out } } }
`;

let place: Workplace;
let server: Awaited<ReturnType<typeof serveNew>>;
let hosted: string;
let suspended: string;

const env = () => ({ ...CREDENTIALS, SLUICE_SERVICE: server.url });
const sluice = (...args: string[]) => place.start(args, { env: env() }).ended;

/** A run of the server, and one that no process executes; then the server is stopped. */
beforeAll(async () => {
  place = createWorkplace();
  writeFileSync(join(place.directory, 'pipeline.yaml'), PIPELINE);
  server = await serveNew(place);
  hosted = parseLines<{ runId: string }>((await sluice('run', '--detach', '--json')).stdout).at(-1)!.runId;
  const runner = place.start(['run', '--here', '--json'], { env: env() });
  await until(() => runner.stdout().includes('"running"'), 'the container');
  runner.process.kill('SIGINT');
  await runner.ended;
  suspended = parseLines<{ runId: string }>(runner.stdout())[0]!.runId;
  server.process.kill('SIGSTOP');
});

afterAll(async () => {
  server.process.kill('SIGCONT');
  await sluice('cancel', hosted);
  await sluice('cancel', suspended);
  await server.kill();
  place.remove();
});

const COMMANDS = [
  ['run'],
  ['run', '--detach'],
  ['plan'],
  ['runs'],
  ['show', 'HOSTED'],
  ['attach', 'HOSTED'],
  ['cancel', 'HOSTED'],
  ['logs', '-r', 'HOSTED', 'wait'],
  ['pull', '-r', 'HOSTED', 'wait'],
  ['why', '-r', 'HOSTED', 'wait'],
  ['resume', 'SUSPENDED'],
  ['cancel', 'SUSPENDED'],
  ['logs', '-r', 'SUSPENDED', 'wait'],
  ['why', '-r', 'SUSPENDED', 'wait'],
  ['gc'],
  ['orphans'],
  ['schedule', 'backfill', '2025-01-01..2025-01-01', 'nightly.yaml'],
];

test('every command that asks the service says what it waits for while the service is frozen', async () => {
  writeFileSync(join(place.directory, 'nightly.yaml'), `${PIPELINE}schedule: { cron: "0 3 * * *" }\n`);
  const said = COMMANDS.map(async (words) => {
    const args = words.map((word) => word.replace('HOSTED', hosted).replace('SUSPENDED', suspended));
    const started = place.start(args, { env: env(), isEndless: true });
    const hasEnded = () => started.process.exitCode !== null;
    await until(() => started.stderr() !== '' || hasEnded(), `a message of ${words.join(' ')}`);
    started.process.kill('SIGKILL');
    const { stderr } = await started.ended;
    return [words.join(' '), stderr.split('\n')[0]?.replace(/ \d+ s /, ' N s ')];
  });
  const waiting = `waiting for ${server.url.replace(/\/$/, '')}: no reply for N s (log in)`;
  expect(await Promise.all(said)).toEqual(COMMANDS.map((words) => [words.join(' '), waiting]));
});
