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
