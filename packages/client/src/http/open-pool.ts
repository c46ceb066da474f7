import { buildConnector, Pool } from 'undici';

const notConnected = new WeakSet<object>();

/**
 * Whether `error` came from a connection that never stood, so that nothing was sent. Noted where connections are
 * made, since no list of error codes can tell a reset in the TLS handshake from one in the middle of a request.
 */
export function isConnectError(error: unknown): boolean {
  return typeof error === 'object' && error !== null && notConnected.has(error);
}

export interface PoolOptions {
  readonly socketPath?: string;
  readonly ca?: string | readonly string[];
  readonly connectMs: number;
  /** Connections at most; more requests wait. Unbounded where absent: for streams, which hold theirs for long. */
  readonly connections?: number;
  /** Largest reply body in bytes; unbounded where absent. */
  readonly maxReplyBytes?: number;
}

/** Kept-alive connections to one origin. Opens none before the first request. */
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
