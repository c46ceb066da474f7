import type { IncomingHttpHeaders } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';
import { z } from 'zod';
import { EngineError } from '../engine.ts';

/** The fields that we read of an inspected container (Engine API 1.41, also provided by Podman). */
const inspectSchema = z.looseObject({
  Id: z.string(),
  Config: z.looseObject({ Labels: z.record(z.string(), z.string()).nullish() }),
  State: z.looseObject({
    Status: z.string(),
    Pid: z.number().optional(),
    ExitCode: z.number(),
    OOMKilled: z.boolean().optional(),
    Error: z.string().optional(),
    StartedAt: z.string(),
    FinishedAt: z.string(),
  }),
});
/** The daemon's description of one container. Fields that are not in the schema are passed through unchecked. */
export type DockerContainer = z.infer<typeof inspectSchema>;

const listSchema = z.array(
  z.looseObject({ Id: z.string(), Labels: z.record(z.string(), z.string()), State: z.string() }),
);
/** One entry of the daemon's list of containers. `State` is a status such as `created` or `running`. */
export type DockerListItem = z.infer<typeof listSchema>[number];

/** A response with an error status; the message is the daemon's own. */
export class DockerError extends Error {
  override readonly name = 'DockerError';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** The calls of the Engine API that the engine needs, over a Unix socket. */
export interface DockerApi {
  /** Whether the socket belongs to Podman's compatible service. */
  readonly isPodman: boolean;
  /**
   * Sends a request and parses the JSON response. Throws `DockerError` for an error status, and `EngineError` if the daemon
   * does not respond.
   */
  call(method: 'GET' | 'POST' | 'DELETE', path: string, options?: CallOptions): Promise<unknown>;
  /** Like `call`, but returns the body as a stream. */
  stream(method: 'GET' | 'POST', path: string, options?: CallOptions): Promise<AsyncIterable<Uint8Array>>;
  inspect(name: string): Promise<DockerContainer | undefined>;
  /** All containers with this label, including those that have ended. */
  list(label: string): Promise<DockerListItem[]>;
  close(): Promise<void>;
}

interface CallOptions {
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** Timeout in milliseconds for the start of the response. Default: none. */
  readonly answersWithin?: number;
}

/**
 * Timeout for creating, starting, stopping or removing a container. After a timeout the operation may still complete, so the
 * container is looked up by its name before the request is repeated.
 */
export const ACTS_WITHIN_MS = 60_000;
const MAX_CALLS = 5;
const CALL_AGAIN_MS = 100;
/**
 * A daemon may hang forever on one container (seen with 20.10 when many start and end concurrently); the others must
 * continue.
 */
const LOOK_WITHIN_MS = 30_000;

/** Connects to the daemon and negotiates the API version. Throws `EngineError` if nothing responds on the socket. */
export async function connectDocker(socketPath: string): Promise<DockerApi> {
  const pool = new Pool('http://localhost', { socketPath, bodyTimeout: 0, pipelining: 1 });
  let prefix = '';

  async function send(method: 'GET' | 'POST' | 'DELETE', path: string, options: CallOptions = {}) {
    const search = options.query ? `?${new URLSearchParams(options.query)}` : '';
    const sent = pool.request({
      method,
      path: `${prefix}${path}${search}`,
      headers: { ...(options.body === undefined ? {} : { 'content-type': 'application/json' }), ...options.headers },
      body: options.body === undefined ? null : JSON.stringify(options.body),
      ...(options.signal ? { signal: options.signal } : {}),
      headersTimeout: options.answersWithin ?? 0,
    });
    const reply = await sent.catch((error: unknown) => {
      if (options.signal?.aborted) throw error;
      throw new EngineError('UNAVAILABLE', `Docker Engine does not answer on ${socketPath}: ${String(error)}`, {
        cause: error,
      });
    });
    if (reply.statusCode >= 400) throw new DockerError(reply.statusCode, errorMessage(await reply.body.text()));
    return reply;
  }

  const api: DockerApi = {
    isPodman: false,
    async call(method, path, options) {
      const reply = await send(method, path, options);
      const text = await reply.body.text();
      return text === '' ? undefined : (JSON.parse(text) as unknown);
    },
    async stream(method, path, options) {
      return (await send(method, path, options)).body;
    },
    inspect: (name) => inspectContainer(api, name),
    async list(label) {
      const filters = JSON.stringify({ label: [label] });
      const query = { all: 'true', filters };
      // Podman inspects every container for it, also those that the filter leaves out.
      const options = { query, answersWithin: ACTS_WITHIN_MS };
      return listSchema.parse(await repeatFailed(() => api.call('GET', '/containers/json', options)));
    },
    close: () => pool.destroy(),
  };

  try {
    // Not `/version`: for it, Podman locks every container, and waits for one that is being removed.
    const { headers, body } = await send('GET', '/_ping', { answersWithin: LOOK_WITHIN_MS });
    await body.dump();
    prefix = `/v${apiVersion(headers, socketPath)}`;
    return { ...api, isPodman: headers['libpod-api-version'] !== undefined };
  } catch (error) {
    await pool.destroy();
    throw error;
  }
}

function apiVersion(headers: IncomingHttpHeaders, socketPath: string): string {
  const version = headers['api-version'];
  if (typeof version === 'string') return version;
  throw new EngineError(
    'UNAVAILABLE',
    `${socketPath} belongs to another program: it names no version of the Engine API`,
  );
}

async function inspectContainer(api: Pick<DockerApi, 'call'>, name: string): Promise<DockerContainer | undefined> {
  const path = `/containers/${name}/json`;
  try {
    return inspectSchema.parse(await repeatFailed(() => api.call('GET', path, { answersWithin: LOOK_WITHIN_MS })));
  } catch (error) {
    if (error instanceof DockerError && error.status === 404) return undefined;
    throw error;
  }
}

/**
 * Repeats a call to which the daemon replies with 500, a few times. Podman does so while the process of a container is exiting,
 * also for a list of all containers, and Docker when a file appears in a container that it removes.
 */
export async function repeatFailed<T>(call: () => Promise<T>): Promise<T> {
  for (let calls = 1; ; calls++) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof DockerError) || error.status !== 500 || calls === MAX_CALLS) throw error;
      await pause(CALL_AGAIN_MS);
    }
  }
}

/** The daemon's own message, which tells the user what to do. */
function errorMessage(text: string): string {
  try {
    const { message } = JSON.parse(text) as { message?: unknown };
    if (typeof message === 'string') return message;
  } catch {
    // Not JSON: the response is from a proxy or another program.
  }
  return text.slice(0, 500);
}
