import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { FeedPoint } from '../../src/events/event-id.ts';
import type { Feeds } from '../../src/events/open-feeds.ts';
import type { FeedEvent } from '../../src/events/run-feed.ts';
import { streamEvents } from '../../src/events/stream-events.ts';

const HEARTBEAT_MS = 15_000;
/** More than the buffers of a connection hold. */
const LARGE = Buffer.alloc(16 * 1024 * 1024, 120);
const RUNS = ['aaaaaaaaaaaaa', 'bbbbbbbbbbbbb', 'ccccccccccccc'];

let server: Server;
/** The numbers of clients that a feed has, by run; the list is ''. */
let joined: Map<string, number>;
/** What was passed to clients, in order. */
let passed: string[];
/** The running feeds, which a test lets pass events. */
let listeners: Map<string, () => void>;

beforeEach(() => {
  // Only the heartbeat: connections need the real clock.
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  [joined, passed, listeners] = [new Map(), [], new Map()];
});

afterEach(() => {
  vi.useRealTimers();
  server.closeAllConnections();
  server.close();
});

/** A feed that passes a large event when a client joins, and others when the test says so. */
function join(name: string, listener: () => void): () => void {
  const pass = () => {
    passed.push(name);
    listener();
  };
  joined.set(name, (joined.get(name) ?? 0) + 1);
  listeners.set(name, pass);
  pass();
  return () => {
    joined.set(name, joined.get(name)! - 1);
    listeners.delete(name);
  };
}

const point: FeedPoint = { epoch: 1, position: 1, status: 'running' };
const event: FeedEvent = { name: 'snapshot', data: LARGE, point };
const feeds: Feeds = {
  list: { join: (_, listener) => join('', () => listener(LARGE, 'point')) },
  use: async (runId) => ({
    feed: { join: (_, listener) => join(runId, () => listener(event)) },
    release: () => joined.delete(runId),
  }),
};

/** Opens a stream that the client does not read yet. */
async function open(runs: readonly string[]): Promise<{ reply: ServerResponse; received: IncomingMessage }> {
  let reply: ServerResponse | undefined;
  server = createServer((_, opened) => {
    reply = opened;
    const ended = new AbortController();
    opened.once('close', () => ended.abort());
    opened.writeHead(200);
    void streamEvents(opened, { runs, list: runs.length === 0, lastEventId: undefined, feeds, signal: ended.signal });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const request = get({ host: '127.0.0.1', port: (server.address() as AddressInfo).port });
  const [received] = (await once(request, 'response')) as [IncomingMessage];
  await expect.poll(() => passed.length).toBeGreaterThan(0);
  return { reply: reply!, received };
}

test('a stream that is not read leaves its feed with one event, and is cut at the second heartbeat', async () => {
  const { reply, received } = await open([]);
  expect([passed, joined.get('')]).toEqual([[''], 0]);
  vi.advanceTimersByTime(HEARTBEAT_MS);
  expect(reply.destroyed).toBe(false);
  vi.advanceTimersByTime(HEARTBEAT_MS);
  expect(reply.destroyed).toBe(true);
  received.resume();
  await once(received, 'error');
  expect([passed.length, vi.getTimerCount()]).toEqual([1, 0]);
});

test('a stream that is read again joins its feed again, and is not cut', async () => {
  const { reply, received } = await open([]);
  vi.advanceTimersByTime(HEARTBEAT_MS);
  received.resume();
  await expect.poll(() => passed.length).toBeGreaterThan(2);
  received.pause();
  await expect.poll(() => joined.get('')).toBe(0);
  vi.advanceTimersByTime(HEARTBEAT_MS);
  expect(reply.destroyed).toBe(false);
});

test('of several runs, a stream that is not read keeps the event of one, and then receives each in turn', async () => {
  const { received } = await open(RUNS);
  expect(passed).toHaveLength(1);
  received.resume();
  await expect.poll(() => passed.length).toBeGreaterThan(6);
  expect([...new Set(passed.slice(1, 4))].sort()).toEqual(RUNS);
  expect([...new Set(passed.slice(4, 7))].sort()).toEqual(RUNS);
});
