import { buildConnector, type Dispatcher, Pool } from 'undici';
import type { ServiceWait } from './http-service-options.ts';

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
const waits = new WeakMap<Dispatcher, (what: string, waitedMs: number) => void>();

/** Reports to the pool's `onWait` that the call `what` waits for its reply, until the returned function is called. */
export function reportWait(dispatcher: Dispatcher, what: string): () => void {
  const report = waits.get(dispatcher);
  if (report === undefined) return () => {};
  const begun = performance.now();
  const timer = setInterval(() => report(what, Math.round(performance.now() - begun)), WAIT_MS);
  timer.unref();
  return () => clearInterval(timer);
}

/** Limits of the connections to one origin. */
export interface PoolOptions {
  readonly socketPath?: string;
  readonly ca?: string | readonly string[];
  readonly connectMs: number;
  /** Most connections; further requests are queued. Absent: no limit, for streams, which occupy theirs for long. */
  readonly connections?: number;
  /** See `HttpServiceAddress`. */
  readonly onWait?: (wait: ServiceWait) => void;
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
  const { onWait } = options;
  if (onWait !== undefined) waits.set(pool, (what, waitedMs) => onWait({ origin, what, waitedMs }));
  return pool;
}
