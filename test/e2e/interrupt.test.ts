import { spawn } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { COMMAND, createWorkplace, makeSharedDirectory, parseLines, until, type Workplace } from './workplace-rig.ts';

let place: Workplace;
/** While it is there, the first step of a run goes on. */
let hold: string;

beforeEach(() => {
  place = createWorkplace();
  hold = makeSharedDirectory();
  const text = `
version: 1
name: slow
steps:
  first: { command: [sh, -c, "while [ -e '${hold}' ]; do sleep 0.1; done; echo done"] }
  second: { command: [echo, after], needs: [first] }
finally:
  last: { command: [echo, "\${{ run.status }}"] }
`;
  writeFileSync(join(place.directory, 'p.yaml'), text);
});

afterEach(() => {
  letGo();
  place.remove();
});

function letGo(): void {
  rmSync(hold, { recursive: true, force: true });
}

/** A run whose first step is running. */
async function startSlow() {
  const run = place.start(['run', 'p.yaml', '--json']);
  await until(() => run.stdout().includes('"status":"running"'), 'the first step to run');
  return run;
}

test('SIGINT leaves the run to itself, and sluice resume takes up the very container', async () => {
  const run = await startSlow();
  run.process.kill('SIGINT');
  expect(await run.ended).toMatchObject({ exitCode: 130 });
  const [suspended] = await place.runs();
  expect(suspended).toMatchObject({ status: 'suspended' });
  const resuming = place.sluice('resume');
  letGo();
  const resumed = await resuming;
  expect(resumed).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/slow succeeded in .*: 3 succeeded/) });
  const containers = await place.containers();
  expect(containers.map(({ phase }) => phase)).toEqual(['Succeeded', 'Succeeded', 'Succeeded']);
});

test('at a terminal, Ctrl-C twice cancels the run, whose finally steps still run', async () => {
  const run = await startAtTerminal();
  run.type('\x03');
  await until(() => run.shown().includes('press Ctrl-C again to cancel'), 'the first Ctrl-C to be taken');
  run.type('\x03');
  expect(await run.exitCode).toBe(130);
  expect(run.shown()).toMatch(/slow.* canceled/);
  expect(await place.runs()).toMatchObject([{ status: 'canceled' }]);
  expect((await place.containers()).map(({ phase }) => phase).sort()).toEqual(['Canceled', 'Succeeded']);
});

test('at a terminal, Ctrl-C three times leaves at once, and sluice resume ends what was begun', async () => {
  const run = await startAtTerminal();
  run.type('\x03');
  await until(() => run.shown().includes('press Ctrl-C again to cancel'), 'the first Ctrl-C to be taken');
  run.type('\x03');
  await until(() => run.shown().includes('press Ctrl-C again to exit'), 'the second Ctrl-C to be taken');
  run.type('\x03');
  expect(await run.exitCode).toBe(130);
  const [left] = await place.runs();
  if (left?.status === 'suspended') await place.sluice('resume');
  expect(await place.runs()).toMatchObject([{ status: 'canceled' }]);
});

/** A run at a terminal of its own whose first step is running. */
async function startAtTerminal() {
  const child = spawn('script', ['-qfec', `${process.execPath} ${COMMAND} run p.yaml`, '/dev/null'], {
    cwd: place.directory,
    env: { ...process.env, SLUICE_HOME: place.home, TERM: 'xterm', CI: '' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let shown = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    shown += text;
  });
  const exitCode = new Promise<number | null>((resolve) => child.on('close', resolve));
  await until(() => /first.*running/.test(shown), 'the first step to run');
  return { shown: () => shown, type: (text: string) => child.stdin.write(text), exitCode };
}

test('SIGTERM suspends the run with the exit code that means so', async () => {
  const run = await startSlow();
  run.process.kill('SIGTERM');
  expect(await run.ended).toMatchObject({ exitCode: 75 });
});

test('SIGHUP changes nothing', async () => {
  const run = await startSlow();
  run.process.kill('SIGHUP');
  letGo();
  expect(await run.ended).toMatchObject({ exitCode: 0 });
});

test('sluice cancel ends a run that another process drives; its finally steps still run', async () => {
  const run = await startSlow();
  expect(await place.sluice('cancel')).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('canceling run'),
  });
  const { exitCode, stdout } = await run.ended;
  expect(exitCode).toBe(1);
  const last = parseLines(stdout).at(-1);
  expect(last).toMatchObject({ type: 'runFinished', report: { status: 'canceled' } });
  const [, second, final] = last?.type === 'runFinished' ? last.report.steps : [];
  expect([second?.status, final?.status]).toEqual(['canceled', 'succeeded']);
});

test('sluice cancel ends a suspended run', async () => {
  const run = await startSlow();
  run.process.kill('SIGINT');
  await run.ended;
  expect(await place.sluice('cancel')).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('slow canceled') });
  expect(await place.runs()).toMatchObject([{ status: 'canceled' }]);
});

test('a second sluice of the same home uses the service of the first, and takes it over when the first is killed', async () => {
  const first = await startSlow();
  const second = await startSlow();
  first.process.kill('SIGKILL');
  await first.ended;
  letGo();
  expect(await second.ended).toMatchObject({ exitCode: 0 });
  const suspended = (await place.runs()).find(({ status }) => status === 'suspended');
  expect(await place.sluice('resume', suspended!.runId)).toMatchObject({ exitCode: 0 });
  expect(await place.containers()).toHaveLength(6);
});
