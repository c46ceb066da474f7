import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { moveRun } from '@sluice/home';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { handToHost, startHostForMarked } from '../../src/hosting/hand-to-host.ts';
import { hostRun } from '../../src/hosting/host-run.ts';
import { announceHanded } from '../../src/runs/handed-run.ts';
import { createTestContext } from '../recording-terminal.ts';

let home: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'sluice-hand-to-host-'));
});

afterEach(() => rmSync(home, { recursive: true, force: true }));

test('a run that ended while it was handed over starts no host, and this is no error', async () => {
  const context = createTestContext({ cwd: home });
  const runId = 'aaaaaaaaaaaaa';
  const handed = await hostRun({ home, runId, context, options: {} });
  if (!handed.ok) expect.unreachable();
  expect(handed.value).toEqual({ runId, to: 'none' });
  expect(announceHanded(handed.value, { context, options: {} })).toBe(0);
  const shown = `run ${runId} no longer needs a process; show it with: sluice show ${runId}\n`;
  expect(context.terminal.written()).toMatchObject({ out: shown, err: '' });
  expect(await startHostForMarked(home, { context, options: {} })).toEqual({ ok: true, value: 0 });
  expect(existsSync(join(home, 'host'))).toBe(false);
});

describe('a host that does not accept the run', () => {
  const runId = 'aaaaaaaaaaaaa';
  const command = process.argv[1]!;

  afterEach(() => {
    process.argv[1] = command;
  });

  /** Hands a run over to a host with the given program. */
  async function handTo(program: string, startMs?: number): Promise<string> {
    mkdirSync(join(home, 'runs', runId), { recursive: true });
    await moveRun({ home, runId }, 'detach');
    process.argv[1] = join(home, 'host.mjs');
    writeFileSync(process.argv[1], program);
    const given = { runId, context: createTestContext({ cwd: home }), options: {} };
    const handed = await handToHost(home, { ...given, ...(startMs !== undefined && { startMs }) });
    if (handed.ok) throw new Error('a host has accepted the run');
    return handed.error;
  }

  test('is named, with its log, if it is still alive', async () => {
    const message = await handTo('setInterval(() => {}, 1000)', 200);
    const pid = Number(/process (\d+)/.exec(message)?.[1]);
    process.kill(pid, 'SIGKILL');
    expect(message).toBe(
      `no host has accepted it within 0.2 s; process ${pid}, which was started as the host, is still alive and may accept it later: see its log ${home}/host/host.log, or end the process with: kill ${pid}`,
    );
  });

  test.each([
    { program: 'console.error("no room"); process.exitCode = 3', ended: 'with exit code 3' },
    { program: 'console.error("no room"); process.kill(process.pid, "SIGKILL")', ended: 'by SIGKILL' },
  ])('is named, with its end and its log: $ended', async ({ program, ended }) => {
    const message = await handTo(program);
    expect(message.replace(/process \d+/, 'process N')).toBe(
      `process N, which was started as the host, ended ${ended}; see its log ${home}/host/host.log, which ends with: no room`,
    );
  });
});
