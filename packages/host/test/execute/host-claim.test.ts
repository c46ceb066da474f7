import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { askHost } from '../../src/control/ask-host.ts';
import { claimHost } from '../../src/execute/host-claim.ts';

const LISTEN_AND_DIE = `require('node:net').createServer().listen(process.argv[1], () => process.kill(process.pid, 'SIGKILL'))`;

let home: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'sluice-host-'));
  mkdirSync(join(home, 'host'));
});

afterEach(() => rmSync(home, { recursive: true, force: true }));

test('a home is claimed again after a reboot has ended its host, although another process has its ID now', async () => {
  spawnSync(process.execPath, ['-e', LISTEN_AND_DIE, join(home, 'host/.control.sock')]);
  const [pidNamespace, net] = ['pid', 'net'].map((name) => readlinkSync(`/proc/self/ns/${name}`));
  const holder = { pid: process.pid, host: hostname(), boot: 'an earlier boot', pidNamespace, net };
  writeFileSync(join(home, 'host/.lock'), `${JSON.stringify(holder)}\n`);
  const status = { pid: 1, startedAt: '', isBackground: true, runs: [] };
  expect(await askHost(home, { verb: 'status' })).toBeUndefined();
  const claim = await claimHost(home, () => ({ status }));
  expect(claim).toBeDefined();
  expect(await askHost(home, { verb: 'status' })).toEqual({ status });
  expect(await claimHost(home, () => undefined)).toBeUndefined();
  await claim!.release();
  expect(await askHost(home, { verb: 'status' })).toBeUndefined();
});

test('a claim waits for a host that is ending and still listens, and reports the wait', async () => {
  const ending = await claimHost(home, () => undefined);
  const waits: number[] = [];
  let isDone = false;
  const next = claimHost(home, () => undefined, { onWait: (ms) => void waits.push(ms) }).then((claim) => {
    isDone = true;
    return claim;
  });
  await expect.poll(() => waits.length).toBeGreaterThan(0);
  expect(isDone).toBe(false);
  await ending!.release();
  const claim = await next;
  expect(claim).toBeDefined();
  await claim!.release();
});

test('a wait for a host that is ending can be given up', async () => {
  const ending = await claimHost(home, () => undefined);
  await expect(claimHost(home, () => undefined, { signal: AbortSignal.abort() })).rejects.toThrow(
    'the process that hosts them is ending and has not left them',
  );
  await ending!.release();
});
