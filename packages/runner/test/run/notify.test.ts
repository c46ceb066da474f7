import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fail, ok, type Pipeline } from '@sluice/core';
import { readRun } from '@sluice/home';
import { expect, test } from 'vitest';
import { createHandPlan, createStep } from '../../../run/test/plans.ts';
import { startRun } from '../../src/run/start-run.ts';
import type { Notification } from '../../src/session/notification.ts';
import { createSystemNotifier, type Notifier } from '../../src/session/system-notifier.ts';
import { createRig, type RigOptions } from '../simulation/rig.ts';

const content: Notification = {
  schema: 1,
  type: 'notification',
  text: 'done',
  runId: 'r',
  pipeline: 'p',
  status: 'failed',
  failures: [],
};

/** Records what is sent; the first `failing` tries fail. */
function createRecorder(failing = 0) {
  const sent: { to: string; content: Notification }[] = [];
  let tries = 0;
  const send = async (to: string, content: Notification) => {
    if (++tries <= failing) return fail(`${to} is away`);
    sent.push({ to, content });
    return ok(undefined);
  };
  const notifier: Notifier = { post: send, run: (command, content) => send(command.join(' '), content) };
  return { sent, notifier, tries: () => tries };
}

async function run(notifications: Pipeline['notify'], notifier: Notifier, behave: RigOptions['behave'] = {}) {
  const rig = createRig('notify', { behave });
  const plan = createHandPlan([createStep('a')], { notify: notifications, secrets: ['HOOK'] });
  const secrets = () => 'https://hooks.example/T0ken';
  const started = await rig.go(startRun({ ...rig.options, plan, baseDir: '/base', notifier, secrets }));
  if (!started.ok) throw new Error(started.error.message);
  return { rig, report: await rig.go(started.value.finished) };
}

test('notify sends what is asked for at this end, and nothing else', async () => {
  const recorder = createRecorder();
  const { report } = await run(
    [
      { on: ['succeeded'], webhook: '${{ secrets.HOOK }}' },
      { on: ['failed'], webhook: 'https://never.example' },
      { on: ['succeeded', 'failed'], command: ['tell', '${{ run.name }} ${{ run.status }}'] },
    ],
    recorder.notifier,
  );
  expect(recorder.sent.map(({ to }) => to)).toEqual(['https://hooks.example/T0ken', 'tell hand succeeded']);
  expect(recorder.sent[0]?.content).toEqual({
    schema: 1,
    type: 'notification',
    text: `hand succeeded: run ${report.runId}`,
    runId: report.runId,
    pipeline: 'hand',
    status: 'succeeded',
    failures: [],
  });
});

test('notify tries again, tells of failures, and leaves the verdict alone when it cannot', async () => {
  const behave = { a: { end: 'Failed', exitCode: 3 } } as const;
  const wanted = [{ on: ['failed'] as const, webhook: '${{ secrets.HOOK }}' }];
  const second = createRecorder(1);
  await run(wanted, second.notifier, behave);
  expect(second.sent[0]?.content.failures).toEqual([
    { step: 'a', cell: '', cellCount: 1, attempt: 1, status: 'failed', reason: 'failed', message: 'exit code 3' },
  ]);
  const never = createRecorder(99);
  const { rig, report } = await run(wanted, never.notifier, behave);
  expect(report.status).toBe('failed');
  const kept = [{ message: 'could not notify by webhook that the run failed: [secret] is away' }];
  expect(report).toMatchObject({ warnings: kept });
  expect(await readRun('/home', report.runId, rig.disk)).toMatchObject({ value: { warnings: kept } });
  expect(Buffer.from(rig.disk.files.get(`/home/runs/${report.runId}/report.html`)!).toString()).toContain('is away');
  expect(never.tries()).toBe(3);
  const warnings = rig.events.filter(({ type }) => type === 'warning');
  expect(warnings).toMatchObject([{ message: expect.stringContaining('[secret] is away') }]);
});

test('createSystemNotifier posts JSON, and gives it to commands', async () => {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    request.on('data', (chunk: Buffer) => void bodies.push(chunk.toString()));
    request.on('end', () => response.writeHead(request.url === '/bad' ? 500 : 204).end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const notifier = createSystemNotifier();
  try {
    expect(await notifier.post(`${url}/good`, content)).toMatchObject({ ok: true });
    expect(JSON.parse(bodies[0]!)).toEqual(content);
    expect(await notifier.post(`${url}/bad`, content)).toMatchObject({ error: 'it answered 500' });
  } finally {
    server.close();
  }
  const script = 'grep -q done && test "$SLUICE_RUN_ID $SLUICE_RUN_STATUS" = "r failed"';
  expect(await notifier.run(['sh', '-c', script], content, '/')).toMatchObject({ ok: true });
  expect(await notifier.run(['sh', '-c', 'echo why >&2; exit 3'], content, '/')).toMatchObject({
    error: 'sh ended with 3: why',
  });
  expect(await notifier.run(['there-is-no-such-program'], content, '/')).toMatchObject({ ok: false });
  // What the system cannot even start is thrown at once by Node.
  expect(await notifier.run(['echo', 'a\0b'], content, '/')).toMatchObject({ ok: false });
  expect(await notifier.run([], content, '/')).toMatchObject({ ok: false });
});

test('createSystemNotifier does not wait for what a command leaves behind', async () => {
  const script = 'sleep 600 & echo $! >&2; exit 4';
  const said = await createSystemNotifier().run(['sh', '-c', script], content, '/');
  const pid = Number(/: (\d+)$/.exec(said.ok ? '' : said.error)?.[1]);
  expect(pid).toBeGreaterThan(0);
  process.kill(pid);
});
