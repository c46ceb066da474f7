import { setTimeout as delay } from 'node:timers/promises';
import { type RunApiEvent, readEvents } from './read-events.ts';
import { requireOk, toSluiceError } from './send-request.ts';

/** The delay before a new connection, if the server wants no other one. It doubles with each failure. */
const RETRY_MS = 1_000;
const MAX_DELAY_MS = 10_000;
/** New connections that fail one after the other, for about a minute. */
const MAX_FAILURES = 10;

/** How a stream of events is opened. */
export interface EventSource {
  /** Sends the request for what follows an event. Throws `SluiceError`. */
  readonly connect: (lastEventId: string | undefined) => Promise<Response>;
  readonly lastEventId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Reads a stream, and continues it after its last event with a new connection whenever it ends. Throws `SluiceError` if the
 * first connection fails, if the server rejects a request, or if no new connection succeeds for about a minute.
 */
export async function* followEvents({ connect, lastEventId, signal }: EventSource): AsyncGenerator<RunApiEvent> {
  let last = lastEventId;
  let retryMs = RETRY_MS;
  const onRetry = (ms: number) => {
    retryMs = ms;
  };
  let reply: Response | undefined = await requireOk(await connect(last));
  for (let failures = 0; ; ) {
    if (reply !== undefined) {
      failures = 0;
      try {
        for await (const event of readEvents(reply.body!, onRetry)) {
          if (event.id !== '') last = event.id;
          yield event;
        }
      } catch (error) {
        const thrown = toSluiceError(error);
        if (thrown.code !== 'UNREACHABLE') throw thrown;
      }
    }
    await delay(Math.min(retryMs * 2 ** failures, MAX_DELAY_MS), undefined, signal && { signal });
    reply = await reconnect(() => connect(last), failures++ < MAX_FAILURES);
  }
}

/** Undefined: the server does not answer, or not yet, and `isRepeated`. */
async function reconnect(connect: () => Promise<Response>, isRepeated: boolean): Promise<Response | undefined> {
  try {
    const reply = await connect();
    if (reply.status < 500 || !isRepeated) return await requireOk(reply);
    await reply.body?.cancel();
    return undefined;
  } catch (error) {
    if (isRepeated && toSluiceError(error).code === 'UNREACHABLE') return undefined;
    throw error;
  }
}
