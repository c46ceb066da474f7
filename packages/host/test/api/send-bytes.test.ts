import { type FastifyInstance, fastify } from 'fastify';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { RangeError416, sendBytes } from '../../src/api/send-bytes.ts';

const BYTES = Buffer.from('0123456789');
let server: FastifyInstance;
let size: number;

beforeEach(() => {
  size = BYTES.length;
  server = fastify();
  server.get('/', (http, reply) => {
    const read = async function* ({ start, end }: { readonly start: number; readonly end: number }) {
      yield BYTES.subarray(start, end);
    };
    return sendBytes({ name: "a'b (1).html" as never, size, read } as never, {
      http,
      reply,
      type: 'application/octet-stream',
    });
  });
  server.setErrorHandler((error, _, reply) =>
    reply
      .code(error instanceof RangeError416 ? 416 : 500)
      .send(error instanceof RangeError416 ? String(error.size) : ''),
  );
});
afterEach(() => server.close());

const ask = (range?: string) => server.inject({ url: '/', headers: range === undefined ? {} : { range } });

test.each([
  ['bytes=2-4', 206, '234', 'bytes 2-4/10'],
  ['bytes=7-', 206, '789', 'bytes 7-9/10'],
  ['bytes=-3', 206, '789', 'bytes 7-9/10'],
  ['bytes=-30', 206, '0123456789', 'bytes 0-9/10'],
  ['bytes=8-99', 206, '89', 'bytes 8-9/10'],
  ['bytes=0-1,3-4', 200, '0123456789', undefined],
  ['lines=1-2', 200, '0123456789', undefined],
  [undefined, 200, '0123456789', undefined],
])('sends the part that is asked for: %s', async (range, code, body, part) => {
  const reply = await ask(range);
  expect([reply.statusCode, reply.body, reply.headers['content-range']]).toEqual([code, body, part]);
  expect(reply.headers['content-length']).toBe(String(body.length));
});

test.each(['bytes=10-', 'bytes=5-4', 'bytes=-0'])('rejects a part that the file does not have: %s', async (range) => {
  const reply = await ask(range);
  expect([reply.statusCode, reply.body]).toEqual([416, '10']);
});

test('sends an empty file, and no browser interprets a file', async () => {
  size = 0;
  const reply = await ask();
  for (const one of [reply, await ask('bytes=0-99')])
    expect([one.statusCode, one.body, one.headers['content-length']]).toEqual([200, '', '0']);
  expect(reply.headers['content-disposition']).toBe("attachment; filename*=UTF-8''a%27b%20%281%29.html");
  expect(reply.headers['content-security-policy']).toBe("sandbox; default-src 'none'");
});
