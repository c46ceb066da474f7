import type { ServerResponse } from 'node:http';
import type { StreamEventName, StreamEvents } from '../schemas/events.ts';
import { encodeData } from './encode-data.ts';
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
  const { signal, runs } = options;
  const client = createClient(reply, options);
  reply.write(`retry: ${RETRY_MS}\n\n`);
  let isBlocked = false;
  reply.on('drain', () => {
    isBlocked = false;
  });
  const heartbeat = setInterval(() => {
    // The client has read nothing since the last heartbeat, and what is kept for it would stay in memory.
    if (isBlocked) reply.destroy();
    else if (!reply.writableNeedDrain) reply.write(':\n\n');
    isBlocked = reply.writableNeedDrain;
  }, HEARTBEAT_MS);
  client.leaving.push(() => clearInterval(heartbeat));
  const leave = () => {
    for (const action of client.leaving.splice(0)) action();
  };
  signal.addEventListener('abort', leave, { once: true });
  if (options.list) followList(client, options);
  await Promise.all(runs.map((runId) => follow(runId, { client, options })));
  if (signal.aborted) leave();
}

/** Follows the list of runs. */
function followList(client: Client, { feeds, signal }: StreamOptions): void {
  const { received, send } = client;
  joinWhileRead({ client, signal }, (pass) =>
    feeds.list.join(received.list, (data, point) =>
      pass(() => {
        received.list = point;
        send('runs', data);
      }),
    ),
  );
}

/** A client that reads slowly leaves a feed until it has read what it was sent. What happens meanwhile is one event. */
function joinWhileRead(
  { client, signal }: { readonly client: Client; readonly signal: AbortSignal },
  join: (pass: (send: () => void) => void) => () => void,
): void {
  const { reply, leaving, whenWritable } = client;
  let stop = () => {};
  const start = () => {
    if (signal.aborted) return;
    let isWaiting = false;
    const leave = join((send) => {
      if (isWaiting || signal.aborted) return;
      send();
      if (!reply.writableNeedDrain) return;
      isWaiting = true;
      // A feed may pass an event before it returns.
      queueMicrotask(() => leave());
      whenWritable(start);
    });
    stop = leave;
  };
  leaving.push(() => stop());
  whenWritable(start);
}

interface Client {
  readonly reply: ServerResponse;
  readonly received: { readonly runs: Map<string, FeedPoint>; list?: string };
  /** To be called when the client has gone. */
  readonly leaving: (() => void)[];
  send(name: StreamEventName, data: Uint8Array): void;
  /** Calls the action as soon as the connection accepts data, after the actions that waited before it. */
  whenWritable(action: () => void): void;
}

function createClient(reply: ServerResponse, { runs, lastEventId = '' }: StreamOptions): Client {
  const from = decodeEventId(lastEventId);
  const followed = [...from.runs].filter(([runId]) => runs.includes(runId));
  const received = { ...from, runs: new Map(followed) };
  const waiting: (() => void)[] = [];
  reply.on('drain', () => {
    while (!reply.writableNeedDrain) {
      const next = waiting.shift();
      if (next === undefined) return;
      next();
    }
  });
  return {
    ...{ reply, received, leaving: [] },
    send(name, data) {
      reply.write(`id: ${encodeEventId(received)}\nevent: ${name}\ndata: `);
      reply.write(data);
      reply.write('\n\n');
    },
    whenWritable(action) {
      if (reply.writableNeedDrain) waiting.push(action);
      else action();
    },
  };
}

async function follow(runId: string, { client, options }: { client: Client; options: StreamOptions }): Promise<void> {
  const { feeds, signal } = options;
  const { received, send } = client;
  const used = await feeds.use(runId).catch((error: Error) => error);
  if (used instanceof Error) {
    send('missing', encodeData({ runId, message: used.message } satisfies StreamEvents['missing']));
    return;
  }
  if (signal.aborted) return used.release();
  joinWhileRead({ client, signal }, (pass) =>
    used.feed.join(received.runs.get(runId), ({ name, data, point }) =>
      pass(() => {
        received.runs.set(runId, point);
        send(name, data);
      }),
    ),
  );
  client.leaving.push(() => used.release());
}
