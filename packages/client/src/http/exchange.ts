import type { Dispatcher } from 'undici';
import { observeRequest } from './open-pool.ts';
import { abortedError, sendError } from './send-error.ts';

/** One HTTP request. */
export interface Exchange {
  readonly method: string;
  /** Encoded path with query, from the root of the origin. */
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body?: string | Uint8Array | AsyncIterable<Uint8Array>;
  /** Describes the call in messages, after "could not": `get container a of c/b`. */
  readonly what: string;
  readonly signal?: AbortSignal | undefined;
  readonly replyMs: number;
  /** Longest time between two chunks of the body; 0 for no limit. */
  readonly bodyMs: number;
}

/** A reply with an unread body, which must be read or destroyed. */
export type Reply = Dispatcher.ResponseData;

/** Sends once and waits for the headers of the reply. The caller must read or destroy its body. */
export async function exchange(dispatcher: Dispatcher, request: Exchange): Promise<Reply> {
  const { signal } = request;
  if (signal?.aborted === true) throw abortedError(request.what, signal.reason);
  const end = observeRequest(dispatcher, request.what);
  let status: number | undefined;
  try {
    const reply = await dispatcher.request({
      method: request.method as Dispatcher.HttpMethod,
      path: request.path,
      headers: request.headers,
      headersTimeout: request.replyMs,
      bodyTimeout: request.bodyMs,
      ...(request.body === undefined ? {} : { body: request.body as Dispatcher.DispatchOptions['body'] & {} }),
      ...(signal === undefined ? {} : { signal }),
    } as Dispatcher.RequestOptions);
    status = reply.statusCode;
    return reply;
  } catch (error) {
    throw sendError(error, request);
  } finally {
    end(status);
  }
}

/** The whole body as text. Fails after `bodyMs` in total, even if data still arrives slowly. */
export async function readText(reply: Reply, request: Exchange): Promise<string> {
  const late = () => reply.body.destroy(new Error(`not complete after ${request.bodyMs} ms`));
  const timer = request.bodyMs > 0 ? setTimeout(late, request.bodyMs) : undefined;
  try {
    return await reply.body.text();
  } catch (error) {
    throw sendError(error, request);
  } finally {
    clearTimeout(timer);
  }
}

/** The whole body, however long it takes while data arrives. Throws if it is shorter than announced. */
export async function readBytes(reply: Reply, request: Exchange): Promise<Uint8Array> {
  try {
    return new Uint8Array(await reply.body.arrayBuffer());
  } catch (error) {
    throw sendError(error, request);
  }
}
