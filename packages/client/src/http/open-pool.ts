import { buildConnector, Pool } from 'undici';

const notConnected = new WeakSet<object>();

/**
 * Whether `error` means that no connection was established, so that nothing was sent. Recorded where connections are
 * made, because error codes cannot distinguish a reset in the TLS handshake from one during a request.
 */
export function isConnectError(error: unknown): boolean {
  return typeof error === 'object' && error !== null && notConnected.has(error);
}

/** Limits of the connections to one origin. */
export interface PoolOptions {
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
  return new Pool(origin, {
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
}
