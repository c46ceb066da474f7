import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FastifyReply } from 'fastify';
import { expect, test } from 'vitest';
import { sendStream } from '../../src/api/send-stream.ts';

/** What a client receives of a log, and whether the reply ended regularly. */
async function receive(bytes: AsyncIterable<Uint8Array>, closing: AbortSignal): Promise<[string, boolean]> {
  const server = createServer((_, raw) => {
    const log = { debug: () => {} };
    const reply = { raw, log, hijack: () => {}, getHeaders: () => ({}) } as unknown as FastifyReply;
    void sendStream(reply, bytes, closing);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    return await new Promise((resolve) => {
      get(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, (reply) => {
        let text = '';
        reply.setEncoding('utf8').on('data', (part: string) => {
          text += part;
        });
        reply.on('error', () => {}).on('close', () => resolve([text, reply.complete]));
      });
    });
  } finally {
    server.close();
  }
}

async function* lines(beforeTheSecond: () => void) {
  yield Buffer.from('one\n');
  beforeTheSecond();
  yield Buffer.from('two\n');
}

test('sendStream ends a reply regularly if everything was sent', async () => {
  expect(
    await receive(
      lines(() => {}),
      new AbortController().signal,
    ),
  ).toEqual(['one\ntwo\n', true]);
});

test('sendStream cuts the connection of a log that ended because the service closes', async () => {
  const closing = new AbortController();
  const [, isWhole] = await receive(
    lines(() => closing.abort()),
    closing.signal,
  );
  expect(isWhole).toBe(false);
});
