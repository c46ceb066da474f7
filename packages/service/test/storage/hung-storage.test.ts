import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { API, openRawHttp, type RawHttp } from '../api/raw-http.ts';
import { FakeEngine } from '../fakes/fake-engine.ts';
import { canHang, hang } from './hung-mount.ts';

const TWO = API.replace('/one/', '/two/');
const isPossible = canHang();
if (!isPossible && process.env.CI === 'true')
  throw new Error('could not test a hung storage: it needs root, /dev/fuse and python3');

describe.skipIf(!isPossible)('a storage that does not answer', () => {
  let http: RawHttp;
  let engine: FakeEngine;
  let release = async () => {};
  beforeEach(async () => {
    engine = new FakeEngine();
    const fake = ({ clusterID }: { clusterID: string }) => (clusterID === 'one' ? engine : new FakeEngine());
    http = await openRawHttp({ engine: 'fake', engines: { fake } });
  });
  afterEach(async () => {
    await release();
    await http.close();
  });

  const createVolume = async (api: string, id: string) =>
    await http.send('POST', `${api}/volumes?volumeID=${id}`, { body: '{"service":{}}' });
  const createContainer = (api: string, id: string, fields: object) =>
    http.send('POST', `${api}/containers?containerID=${id}`, { body: JSON.stringify({ command: ['x'], ...fields }) });
  const volumes = async () => {
    const reply = await http.send('GET', `${API.replace(/\/clusters.*/, '')}/clusters/-/accounts/-/volumes`);
    const page = reply.json() as { volumes: { clusterID: string; phase: string }[] };
    return page.volumes.map(({ clusterID, phase }) => `${clusterID} ${phase}`);
  };
  const upload = async (made: { json(): Record<string, unknown> }) => {
    const { service } = made.json() as { service: { username: string; password: string; address: { webdav: string } } };
    const authorization = `Basic ${Buffer.from(`${service.username}:${service.password}`).toString('base64')}`;
    const path = new URL('file', service.address.webdav).pathname;
    return (await http.send('PUT', path, { headers: { authorization }, body: Buffer.from('content') })).status;
  };
  const unavailable = {
    details: [{ reason: 'STORAGE_UNAVAILABLE' }],
    message: expect.stringContaining('does not answer'),
  };

  it('rejects requests that need it, and delays no request of another cluster', async () => {
    const one = await createVolume(API, 'v');
    await createContainer(API, 'c', { instanceType: 'small' });
    await expect.poll(() => engine.launched.size).toBe(1);
    engine.run('c');
    const { logPath } = engine.launchOf('c');
    writeFileSync(logPath, 'output\n');
    expect((await http.send('GET', `${API}/containers/c/logs`)).text).toBe('output\n');

    release = await hang(join(http.rig.root, 'clusters/one'));
    const replies = await Promise.all([
      createVolume(API, 'w'),
      http.send('GET', `${API}/containers/c/logs`),
      http.send('DELETE', `${API}/volumes/v?force=true`),
    ]);
    for (const reply of replies) expect(reply.json()).toMatchObject(unavailable);
    expect(
      (await createContainer(API, 'd', { instanceType: 'small', volumeMounts: { v: '/v' } })).json(),
    ).toMatchObject({
      details: [{ reason: 'VOLUME_NOT_AVAILABLE' }],
    });
    expect(await upload(one)).toBe(503);
    const two = await createVolume(TWO, 'v');
    expect(await upload(two)).toBe(201);
    expect((await createContainer(TWO, 'e', { instanceType: 'other', volumeMounts: { v: '/v' } })).status).toBe(200);
    expect(await volumes()).toEqual(['one Unknown', 'two Available']);

    await release();
    await expect.poll(volumes).toEqual(['one Available', 'two Available']);
    expect(await upload(one)).toBe(201);
    expect((await http.send('GET', `${API}/containers/c/logs`)).text).toBe('output\n');
  });

  it('ends a followed log with an error, and not as if it were complete', async () => {
    await createContainer(API, 'c', { instanceType: 'small' });
    await expect.poll(() => engine.launched.size).toBe(1);
    engine.run('c');
    writeFileSync(engine.launchOf('c').logPath, 'output\n');
    const headers = { authorization: `Bearer ${http.token}` };
    const log = await fetch(`${http.url}${API}/containers/c/logs?follow=true`, { headers });
    const reader = log.body!.getReader();
    expect(Buffer.from((await reader.read()).value!).toString()).toBe('output\n');
    release = await hang(join(http.rig.root, 'clusters/one'));
    await expect(reader.read()).rejects.toThrow();
    expect(await volumes()).toEqual([]);
  });

  it('occupies no thread for containers that are started meanwhile, and starts them later', async () => {
    release = await hang(join(http.rig.root, 'clusters/one'));
    // More than a process has threads for files.
    const ids = Array.from({ length: 8 }, (_, i) => `c${i}`);
    const created = await Promise.all(ids.map((id) => createContainer(API, id, { instanceType: 'small' })));
    expect(created.map(({ status }) => status)).toEqual(ids.map(() => 200));
    expect(await upload(await createVolume(TWO, 'v'))).toBe(201);
    await release();
    const launched = async () => {
      await http.rig.clock.advance(1_000);
      return engine.launched.size;
    };
    await expect.poll(launched).toBe(ids.length);
  });
});
