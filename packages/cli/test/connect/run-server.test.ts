import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { type ApiCall, createHttpConnection, type HttpConnection } from '@sluice/client';
import { expect, test } from 'vitest';
import type { z } from 'zod';
import { createRunServer } from '../../src/connect/run-server.ts';

test('a server lists all of its runs, whatever the number of pages', async () => {
  const entry = (runId: string) => ({ runId, pipeline: 'p', status: 'running', createdAt: '2026-01-01T00:00:00Z' });
  const pages = [{ runs: [entry('a'), entry('b')], nextPageToken: '2' }, { runs: [entry('c')] }];
  const tokens: unknown[] = [];
  const call = async <T>({ query }: ApiCall, schema: z.ZodType<T>) => {
    tokens.push(query?.pageToken);
    return schema.parse(pages[tokens.length - 1]);
  };
  const api = (() => ({ call })) as unknown as HttpConnection['api'];
  const server = createRunServer({ url: 'http://server', scope: { clusterID: 'c', accountID: 'a' }, api });
  expect((await server.listAll()).map(({ runId }) => runId)).toEqual(['a', 'b', 'c']);
  expect(tokens).toEqual([undefined, '2']);
});

test('an action without a reply is not reported as one that was not done', async () => {
  const sockets = new Set<Socket>();
  const stopped = createServer((socket) => void sockets.add(socket.on('error', () => {}))).listen(0, '127.0.0.1');
  await once(stopped, 'listening');
  const url = `http://127.0.0.1:${(stopped.address() as AddressInfo).port}`;
  const timeouts = { replyMs: 50 };
  const { api, service } = createHttpConnection({ baseUrl: url, token: 't', timeouts });
  try {
    const server = createRunServer({ url, scope: { clusterID: 'c', accountID: 'a' }, api });
    await expect(server.act('r', 'approve', { step: 's' })).rejects.toMatchObject({
      code: 'NO_REPLY',
      message: expect.stringMatching(/approve run r: .*; the server may still do it: look at the run/),
    });
  } finally {
    await service.close();
    for (const socket of sockets) socket.destroy();
    stopped.close();
  }
});
