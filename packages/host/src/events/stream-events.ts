import type { ServerResponse } from 'node:http';
import type { StreamEventName, StreamEvents } from '../schemas/events.ts';
import { decodeEventId, encodeEventId, type FeedPoint } from './event-id.ts';
import type { Feeds } from './open-feeds.ts';

const HEARTBEAT_MS = 15_000;
/** The delay of a client before it reconnects. */
const RETRY_MS = 1_000;

/** What a client wants to receive. */
export interface StreamOptions {
  readonly runs: readonly string[];
  readonly list: boolean;
  /** The ID of the last event that the client has received. */
  readonly lastEventId: string | undefined;
  readonly feeds: Feeds;
  /** Aborted when the client disconnects or the server closes. */
  readonly signal: AbortSignal;
}

/** Sends events until the signal is aborted. A client that reads slowly gets larger batches, or a snapshot. */
export async function streamEvents(reply: ServerResponse, options: StreamOptions): Promise<void> {
  const { feeds, signal, runs } = options;
  const client = createClient(reply, options);
  // Each run waits for the connection on its own.
  reply.setMaxListeners(runs.length + reply.getMaxListeners());
  reply.write(`retry: ${RETRY_MS}\n\n`);
  const heartbeat = setInterval(() => reply.write(':\n\n'), HEARTBEAT_MS);
  client.leaving.push(() => clearInterval(heartbeat));
  const leave = () => {
    for (const action of client.leaving.splice(0)) action();
  };
  signal.addEventListener('abort', leave, { once: true });
  if (options.list) {
    const stop = feeds.list.join(client.received.list, (data, point) => {
      client.received.list = point;
      client.send('runs', JSON.stringify(data));
    });
    client.leaving.push(stop);
  }
  await Promise.all(runs.map((runId) => follow(runId, { client, options })));
  if (signal.aborted) leave();
}

interface Client {
  readonly reply: ServerResponse;
  readonly received: { readonly runs: Map<string, FeedPoint>; list?: string };
  /** To be called when the client has gone. */
  readonly leaving: (() => void)[];
  send(name: StreamEventName, data: string): void;
}

function createClient(reply: ServerResponse, { runs, lastEventId = '' }: StreamOptions): Client {
  const from = decodeEventId(lastEventId);
  const followed = [...from.runs].filter(([runId]) => runs.includes(runId));
  const received = { ...from, runs: new Map(followed) };
  return {
    ...{ reply, received, leaving: [] },
    send: (name, data) => void reply.write(`id: ${encodeEventId(received)}\nevent: ${name}\ndata: ${data}\n\n`),
  };
}

async function follow(runId: string, { client, options }: { client: Client; options: StreamOptions }): Promise<void> {
  const { feeds, signal } = options;
  const { reply, received, send } = client;
  const used = await feeds.use(runId).catch((error: Error) => error);
  if (used instanceof Error) {
    send('missing', JSON.stringify({ runId, message: used.message } satisfies StreamEvents['missing']));
    return;
  }
  if (signal.aborted) return used.release();
  let stop = () => {};
  let isWaiting = false;
  const join = () => {
    isWaiting = false;
    if (signal.aborted) return;
    stop = used.feed.join(received.runs.get(runId), ({ name, data, point }) => {
      if (isWaiting || signal.aborted) return;
      received.runs.set(runId, point);
      send(name, data);
      if (!reply.writableNeedDrain) return;
      // What happens in the meantime follows as one event.
      isWaiting = true;
      queueMicrotask(() => stop());
      reply.once('drain', join);
    });
  };
  client.leaving.push(() => {
    stop();
    used.release();
  });
  join();
}
