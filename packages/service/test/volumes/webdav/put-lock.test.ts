import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { until } from '@sluice/client/contract';
import { expect, test } from 'vitest';
import { type DavRig, openDavRig } from './dav-rig.ts';

const LOCK_BODY =
  '<D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockinfo>';

/** An upload whose end is still to come. */
async function beginPut(rig: DavRig, path: string, headers: Record<string, string>) {
  const { port, authorization } = rig;
  const sent: ClientRequest = request({ port, method: 'PUT', path, headers: { authorization, ...headers } });
  const status = new Promise<number | undefined>((resolve, reject) => {
    sent.on('response', (reply: IncomingMessage) => {
      reply.resume();
      resolve(reply.statusCode);
    });
    sent.on('error', reject);
  });
  sent.write('slow');
  await until('begun', async () => readdirSync(rig.session.root).some((name) => name.startsWith('.sluice-tmp-')));
  return { end: () => sent.end(), status };
}

test('a PUT that may only make a file replaces none that came while it was sent', async () => {
  const rig = await openDavRig();
  const slow = await beginPut(rig, '/f', { 'if-none-match': '*' });
  expect((await rig.send('PUT', '/f', { body: 'fast', headers: { 'if-none-match': '*' } })).status).toBe(201);
  slow.end();
  expect(await slow.status).toBe(412);
  expect(readFileSync(join(rig.session.root, 'f'), 'utf8')).toBe('fast');
  expect(readdirSync(rig.session.root)).toEqual(['f']);
});

test('a PUT does not replace what another has locked while it was sent', async () => {
  const rig = await openDavRig();
  writeFileSync(join(rig.session.root, 'f'), 'old');
  const slow = await beginPut(rig, '/f', {});
  expect((await rig.send('LOCK', '/f', { body: LOCK_BODY })).status).toBe(200);
  slow.end();
  expect(await slow.status).toBe(423);
  expect(readFileSync(join(rig.session.root, 'f'), 'utf8')).toBe('old');
});

test('a LOCK whose file cannot be made leaves no lock that nobody knows the token of', async () => {
  const rig = await openDavRig();
  mkdirSync(join(rig.session.root, 'd'));
  const pipe = join(rig.session.root, 'd/pipe');
  expect(spawnSync('mkfifo', [pipe]).status).toBe(0);
  for (let round = 0; round < 2; round += 1) {
    expect((await rig.send('LOCK', '/d/pipe', { body: LOCK_BODY })).status).toBe(403);
  }
  expect(existsSync(pipe)).toBe(true);
  rmSync(pipe);
  expect((await rig.send('PUT', '/d/pipe', { body: 'x' })).status).toBe(201);
});

test('what is neither file nor directory is not there, and nobody waits for it', async () => {
  const rig = await openDavRig();
  const pipe = join(rig.session.root, 'pipe');
  expect(spawnSync('mkfifo', [pipe]).status).toBe(0);
  for (let round = 0; round < 8; round += 1) {
    for (const method of ['GET', 'HEAD', 'PROPFIND']) {
      expect((await rig.send(method, '/pipe', { headers: { depth: '0' } })).status).toBe(404);
    }
  }
  expect((await rig.send('GET', '/')).text).toBe('');
});
