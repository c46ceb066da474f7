import { buildConnector, type Dispatcher, Pool } from 'undici';
import type { HttpServiceAddress } from './http-service-options.ts';

const notConnected = new WeakSet<object>();

/**
 * Whether `error` means that no connection was established, so that nothing was sent. Recorded where connections are
 * made, because error codes cannot distinguish a reset in the TLS handshake from one during a request.
 */
export function isConnectError(error: unknown): boolean {
  return typeof error === 'object' && error !== null && notConnected.has(error);
}

/** A request that waits for the beginning of its reply is reported each time that this has passed. */
const WAIT_MS = 5_000;

/** Receives what happens to the requests of a pool; see `HttpServiceAddress`. */
type Observer = Pick<HttpServiceAddress, 'onWait' | 'onReply'>;

const observers = new WeakMap<Dispatcher, Observer & { readonly origin: string }>();

/**
 * Reports to the pool's observer that the call `what` waits for its reply, until the returned function is called, with the
 * status of the reply if there is one.
 */
export function observeRequest(dispatcher: Dispatcher, what: string): (status: number | undefined) => void {
  const observer = observers.get(dispatcher);
  if (observer === undefined) return () => {};
  const { origin, onWait, onReply } = observer;
  const begun = performance.now();
  const passedMs = () => Math.round(performance.now() - begun);
  const timer = onWait && setInterval(() => onWait({ origin, what, waitedMs: passedMs() }), WAIT_MS);
  timer?.unref();
  return (status) => {
    clearInterval(timer);
    onReply?.({ origin, what, ...(status !== undefined && { status }), tookMs: passedMs() });
  };
}

/** Limits of the connections to one origin. */
export interface PoolOptions extends Observer {
  readonly socketPath?: string;
  readonly ca?: string | readonly string[];
  readonly connectMs: number;
  /** Most connections; further requests are queued. Absent: no limit, for streams, which occupy theirs for long. */
  readonly connections?: number;
  /** Largest reply body in bytes. Absent: no limit. */
  readonly maxReplyBytes?: number;
}

/** Reusable connections to one origin. Opens none before the first request. */
export function openPool(origin: string, options: PoolOptions): Pool {
  const connect = buildConnector({
    timeout: options.connectMs,
    ...(options.socketPath === undefined ? {} : { socketPath: options.socketPath }),
    ...(options.ca === undefined ? {} : { ca: typeof options.ca === 'string' ? options.ca : [...options.ca] }),
  });
  const pool = new Pool(origin, {
    connect(target, callback) {
      connect(target, (...outcome) => {
        if (outcome[0] !== null) notConnected.add(outcome[0]);
        callback(...outcome);
      });
    },
    connections: options.connections ?? null,
    pipelining: 1,
    ...(options.maxReplyBytes === undefined ? {} : { maxResponseSize: options.maxReplyBytes }),
  });
  observers.set(pool, { ...pickObserver(options), origin });
  return pool;
}

/** The observer among the options. */
export function pickObserver({ onWait, onReply }: Observer): Observer {
  return { ...(onWait && { onWait }), ...(onReply && { onReply }) };
}
