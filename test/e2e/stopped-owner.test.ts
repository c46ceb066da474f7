import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openEmbeddedService } from '../../packages/cli/src/connect/embedded-service.ts';
import { createWorkplace, isAlive, parseLines, until, type Workplace } from './workplace-rig.ts';

const PIPELINE = `version: 1
name: long
steps: { wait: { command: [sleep, "1000"], outputs: { o: /out } } }
`;

let place: Workplace;
let runId: string;
let ownerPid: number;

/** A run whose process owns the embedded service of the home, and is stopped. */
beforeEach(async () => {
  place = createWorkplace();
  writeFileSync(join(place.directory, 'pipeline.yaml'), PIPELINE);
  const owner = place.start(['run', '--json'], { isEndless: true });
  await until(() => owner.stdout().includes('"running"'), 'the container');
  runId = parseLines<{ runId: string }>(owner.stdout())[0]!.runId;
  ownerPid = owner.process.pid!;
  process.kill(ownerPid, 'SIGSTOP');
});

afterEach(async () => {
  if (isAlive(ownerPid)) process.kill(ownerPid, 'SIGKILL');
  await until(() => !isAlive(ownerPid), 'the end of the owner');
  await place.sluice('cancel', runId);
  place.remove();
});

const COMMANDS = [['run'], ['run', '--detach'], ['logs', '-r', 'RUN', 'wait'], ['gc'], ['orphans']];

test('every command that needs the service of a stopped process says what it waits for', async () => {
  const said = COMMANDS.map(async (words) => {
    const args = words.map((word) => word.replace('RUN', runId));
    const started = place.start(args, { isEndless: true });
    await until(() => started.stderr() !== '' || started.process.exitCode !== null, `a message of ${words.join(' ')}`);
    started.process.kill('SIGKILL');
    const { stderr } = await started.ended;
    return [words.join(' '), stderr.split('\n')[0]?.replace(/ [5-9] s /, ' N s ')];
  });
  const owner = `the process that runs the embedded service of ${place.home}`;
  const waiting = `waiting for ${owner}: no reply for N s (connect to process ${ownerPid})`;
  expect(await Promise.all(said)).toEqual(COMMANDS.map((words) => [words.join(' '), waiting]));
});

test('the wait for a stopped process ends, with advice, and the service is found once it continues', async () => {
  const failed = openEmbeddedService(place.home, { ownerMs: 300 });
  const message = new RegExp(`: process ${ownerPid} runs it and has not replied for .*kill -CONT.*kill -KILL`);
  await expect(failed).rejects.toMatchObject({ code: 'UNREACHABLE', message: expect.stringMatching(message) });
  process.kill(ownerPid, 'SIGCONT');
  expect(await place.sluice('cancel', runId)).toMatchObject({ exitCode: 0 });
  expect((await place.show(runId)).status).toBe('canceled');
});
