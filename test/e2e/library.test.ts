import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connectService, openService, pipeline, pullOutput, resume, run } from 'sluice';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { asked } from '../../examples/library/ask.ts';
import { greetAll } from '../../examples/library/greet.ts';
import { inspect } from '../../examples/library/inspect.ts';
import { countWords } from '../../examples/library/samples.ts';
import { CREDENTIALS, type Server, serveNew } from './served-rig.ts';
import { createWorkplace, type Workplace } from './workplace-rig.ts';

let place: Workplace;
let server: Server;

beforeEach(async () => {
  place = createWorkplace();
  server = await serveNew(place);
});

afterEach(async () => {
  await server.kill();
  place.remove();
});

test('examples/library builds a pipeline, runs it on a service, and the command knows its run', async () => {
  const login = { email: CREDENTIALS.SLUICE_EMAIL, password: CREDENTIALS.SLUICE_PASSWORD };
  const service = await connectService({ baseUrl: server.url, login });
  expect(await greetAll(['Ada', 'Alan'], { service, home: place.home })).toEqual({
    status: 'succeeded',
    said: 'hello Ada\nhello Alan',
  });
  await service.close();
  expect(await place.runs()).toMatchObject([{ pipeline: 'greetings', status: 'succeeded' }]);
  await expect(connectService({ baseUrl: server.url, login: { ...login, password: 'no' } })).rejects.toMatchObject({
    name: 'SluiceError',
    code: 'UNAUTHENTICATED',
  });
});

test('a profile selects the service of a program, as it does for the command', async () => {
  const { home, directory } = place;
  const profile = join(directory, 'cluster.yaml');
  const write = (service: string, password: string) => {
    writeFileSync(join(directory, 'password'), password);
    const text = `service: ${service}\nemail: ${CREDENTIALS.SLUICE_EMAIL}\npasswordFile: password\n`;
    writeFileSync(profile, `${text}limits: { instanceTypes: { none: 1 } }\n`);
  };
  write(server.url, CREDENTIALS.SLUICE_PASSWORD);
  const p = pipeline('by-profile');
  const hello = p.step('hello', { command: ['sh', '-c', 'echo hello > /out/text/line'], outputs: ['text'] });
  p.step('ask', { approval: { message: 'Continue?' }, needs: hello });
  const started = await run(p, { home, profile });
  for await (const { type } of started.events) if (type === 'approvalAsked') break;
  await started.suspend();
  const resumed = await resume(started.runId, { home, profile });
  await resumed.approve('ask');
  expect((await resumed.finished).report).toMatchObject({
    status: 'succeeded',
    clusterId: expect.not.stringMatching(/^local$/),
  });
  await pullOutput(started.runId, 'hello.text', { home, profile, to: join(directory, 'text') });
  expect(readFileSync(join(directory, 'text/line'), 'utf8')).toBe('hello\n');

  const opened = await openService({ home, profile });
  expect(opened).toMatchObject({ scope: expect.anything(), limits: { instanceTypes: { none: 1 } } });
  await opened.close();
  writeFileSync(join(home, 'profile.yaml'), 'service: http://127.0.0.1:9\n');
  await expect(run(p, { home })).rejects.toMatchObject({ code: 'SERVICE_UNUSABLE' });
  await expect(openService({ home, profile: 'none' })).rejects.toMatchObject({
    code: 'SERVICE_UNUSABLE',
    message: expect.stringContaining('could not find profile none'),
  });
  write(server.url, 'wrong');
  await expect(run(p, { home, profile })).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  write('http://127.0.0.1:9', 'any');
  await expect(run(p, { home, profile })).rejects.toMatchObject({ code: 'UNREACHABLE' });
});

test('examples/library runs without a service of its own, in one home with the command', async () => {
  expect(await greetAll(['Ada'], { home: place.home })).toEqual({ status: 'succeeded', said: 'hello Ada' });
  const runs = await place.runs();
  expect(runs).toMatchObject([{ pipeline: 'greetings', status: 'succeeded' }]);
  expect(await place.sluice('rerun', '--from', 'greet', '-p', 'n=1')).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining(`with: sluice run -p n=1 --reuse-from ${runs[0]!.runId} --from greet (add`),
  });
});

test('examples/library writes the file of a pipeline with a service, which the command runs', async () => {
  const own = createWorkplace();
  writeFileSync(join(own.directory, 'asked.json'), JSON.stringify(asked));
  expect(await own.sluice('run', 'asked.json')).toMatchObject({
    exitCode: 0,
    stdout: expect.stringMatching(/ask +said +hello/),
  });
  own.remove();
});

test('examples/library answers questions about the graph of a pipeline file', async () => {
  const file = join(import.meta.dirname, '../../examples/digits/pipeline.yaml');
  expect(await inspect(file, 'evaluate')).toEqual({
    affected: ['report'],
    readsFrom: ['prepare', 'fit', 'select'],
    mounts: ['prepare.digits at /in/digits', 'select.best at /in/best'],
    containers: 17,
  });
});

test('examples/library follows the samples of a table, whose columns have types', async () => {
  const directory = join(import.meta.dirname, '../../examples/samples');
  expect(await countWords(directory, { home: place.home })).toEqual({
    status: 'succeeded',
    words: ['S1: 3, x y z', 'S2: 1, d', 'S3: 3, e f g'],
    lines: [10],
  });
});
