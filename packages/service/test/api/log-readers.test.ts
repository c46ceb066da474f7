import { appendFileSync, closeSync, ftruncateSync, openSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { FakeEngine } from '../fakes/fake-engine.ts';
import { API, openRawHttp, type RawHttp } from './raw-http.ts';

let http: RawHttp;
let engine: FakeEngine;
beforeAll(async () => {
  engine = new FakeEngine();
  const engines = { fake: ({ clusterID }: { clusterID: string }) => (clusterID === 'one' ? engine : new FakeEngine()) };
  http = await openRawHttp({ engine: 'fake', engines, cores: 100 });
});
afterAll(() => http.close());

/** A running container, and the path of its log. */
async function run(id: string): Promise<string> {
  const body = JSON.stringify({ instanceType: 'small', image: 'x' });
  await http.send('POST', `${API}/containers?containerID=${id}`, { body });
  await expect.poll(() => engine.launched.size > 0 && engine.launchOf(id)).toBeTruthy();
  engine.run(id);
  return engine.launchOf(id).logPath;
}

/** A reader of a log on its own connection, returned when the head of the reply has arrived. */
async function read(path: string, { method = 'GET', headers = '' } = {}): Promise<Socket> {
  const socket = connect(Number(new URL(http.url).port), '127.0.0.1');
  socket.on('error', () => {});
  socket.write(`${method} ${API}/${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${http.token}\r\n${headers}\r\n`);
  await new Promise((resolve) => socket.once('readable', resolve));
  return socket;
}

it('readers that do not read a log of 10 GB use little memory and delay no other reader', async () => {
  const log = await run('huge');
  const file = openSync(log, 'w');
  ftruncateSync(file, 10_000_000_000);
  closeSync(file);
  const before = process.memoryUsage().rss;
  const readers = await Promise.all(
    Array.from({ length: 60 }, (_, i) => read(`containers/huge/logs${i % 2 === 0 ? '' : '?follow=true'}`)),
  );
  for (let i = 0; i < 50; i++) expect((await http.send('GET', `${API}/containers/huge`)).status).toBe(200);
  // The container continues to write, and other readers read it.
  appendFileSync(log, '\nthe end\n');
  expect((await http.send('GET', `${API}/containers/huge/logs?tail=1`)).text).toBe('the end\n');
  expect(process.memoryUsage().rss - before).toBeLessThan(200_000_000);
  for (const reader of readers) reader.destroy();
});

it('a log is followed while the container lives, but a missing body times out', async () => {
  const log = await run('old');
  const following = http.send('GET', `${API}/containers/old/logs?follow=true`);
  const head = `POST ${API}/volumes HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${http.token}\r\n`;
  const silent = connect(Number(new URL(http.url).port), '127.0.0.1', () => {
    silent.write(`${head}Content-Type: application/json\r\nContent-Length: 9\r\n\r\n{`);
  });
  let isCut = false;
  silent.resume().once('close', () => {
    isCut = true;
  });
  await expect
    .poll(async () => {
      await http.rig.clock.advance(3_600_000);
      return isCut;
    })
    .toBe(true);
  appendFileSync(log, 'late\n');
  engine.end('old');
  expect((await following).text).toBe('late\n');
});

it('a line of a million bytes arrives complete, by tail and by follow', async () => {
  const log = await run('wide');
  const line = `${'x'.repeat(1_000_000)}\n`;
  const following = http.send('GET', `${API}/containers/wide/logs?follow=true`);
  appendFileSync(log, `first\n${line}`);
  expect((await http.send('GET', `${API}/containers/wide/logs?tail=1`)).text).toBe(line);
  engine.end('wide');
  expect((await following).text).toBe(`first\n${line}`);
});

it('a log of many blocks arrives unchanged at several concurrent readers, however slow', async () => {
  const log = await run('long');
  const lines = Array.from({ length: 1_500_000 }, (_, index) => `line ${index}\n`).join('');
  writeFileSync(log, lines);
  const slow = await read('containers/long/logs', { headers: 'Connection: close\r\n' });
  const fast = await Promise.all([1, 2].map(() => http.send('GET', `${API}/containers/long/logs`)));
  for (const { text } of fast) expect(text === lines).toBe(true);
  let last = '';
  for await (const part of slow) last = (last + part).slice(-100);
  expect(last).toContain('line 1499999\n\r\n0\r\n');
});

it('hundreds of followers receive the end, however many have disconnected before', async () => {
  const log = await run('popular');
  appendFileSync(log, 'one\n');
  const leaving = await Promise.all(Array.from({ length: 150 }, () => read('containers/popular/logs?follow=true')));
  const staying = Array.from({ length: 350 }, () => http.send('GET', `${API}/containers/popular/logs?follow=true`));
  for (const reader of leaving) reader.destroy();
  expect((await http.send('GET', `${API}/containers/popular/logs`)).text).toBe('one\n');
  appendFileSync(log, 'two\n');
  engine.end('popular');
  const texts = (await Promise.all(staying)).map(({ text }) => text);
  expect(new Set(texts)).toEqual(new Set(['one\ntwo\n']));
});

it('a HEAD of a followed log ends immediately', async () => {
  await run('headed');
  const reply = await read('containers/headed/logs?follow=true', { method: 'HEAD', headers: 'Connection: close\r\n' });
  await new Promise((resolve) => reply.resume().once('close', resolve));
});

it('invalid bytes end the connection, and insert nothing into a log that is followed on it', async () => {
  const log = await run('mixed');
  appendFileSync(log, 'one\n');
  const reader = await read('containers/mixed/logs?follow=true');
  let text = '';
  reader.on('data', (bytes: Buffer) => {
    text += bytes.toString();
  });
  await expect.poll(() => text).toContain('one\n');
  reader.write('no request\r\n\r\n');
  await new Promise((resolve) => reader.once('close', resolve));
  expect(text.match(/HTTP/g)).toHaveLength(1);
});

it('deleting a container ends its followed logs', async () => {
  const log = await run('deleted');
  appendFileSync(log, 'one\n');
  const following = http.send('GET', `${API}/containers/deleted/logs?follow=true`);
  await expect.poll(async () => (await http.send('GET', `${API}/containers/deleted/logs`)).text).toBe('one\n');
  expect((await http.send('DELETE', `${API}/containers/deleted`)).status).toBe(204);
  expect('one\n').toContain((await following).text);
});
