import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';
import { z } from 'zod';
import { EngineError } from '../engine.ts';

/** The fields of an inspected container that we read (Engine API 1.41, also given by Podman). */
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
export type DockerContainer = z.infer<typeof inspectSchema>;

const listSchema = z.array(
  z.looseObject({ Id: z.string(), Labels: z.record(z.string(), z.string()), State: z.string() }),
);
export type DockerListItem = z.infer<typeof listSchema>[number];

const versionSchema = z.looseObject({
  ApiVersion: z.string(),
  Components: z.array(z.looseObject({ Name: z.string() })).optional(),
});

/** An answer of the daemon other than success. */
export class DockerError extends Error {
  override readonly name = 'DockerError';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** The calls of the Engine API that the engine needs, over a unix socket. */
export interface DockerApi {
  /** Whether Podman answers in Docker's place. */
  readonly isPodman: boolean;
  /** Sends a call and reads its JSON; throws `DockerError` for an error status, `EngineError` when the daemon is away. */
  call(method: 'GET' | 'POST' | 'DELETE', path: string, options?: CallOptions): Promise<unknown>;
  /** The same for a body that is read as it comes. */
  stream(method: 'GET' | 'POST', path: string, options?: CallOptions): Promise<AsyncIterable<Uint8Array>>;
  inspect(name: string): Promise<DockerContainer | undefined>;
  /** All containers, ended ones too, that carry this label. */
  list(label: string): Promise<DockerListItem[]>;
  close(): Promise<void>;
}

interface CallOptions {
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** Milliseconds until an answer begins; without it, it may take as long as it likes. */
  readonly answersWithin?: number;
}

/**
 * How long the daemon may take to create, start, stop or remove a container. Its answer may then still be on its way: what
 * has become of the container is looked up by its name before it is asked again.
 */
export const ACTS_WITHIN_MS = 60_000;
const MAX_LOOKS = 5;
const LOOK_AGAIN_MS = 100;
/** A daemon can hang over one container for ever (20.10 where many start and end at once): the others must continue. */
const LOOK_WITHIN_MS = 30_000;

/** Connects to the daemon and settles the API version; throws `EngineError` with the way out when nothing answers. */
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
    async inspect(name) {
      for (let looks = 1; ; looks++) {
        try {
          return inspectSchema.parse(
            await api.call('GET', `/containers/${name}/json`, { answersWithin: LOOK_WITHIN_MS }),
          );
        } catch (error) {
          if (!(error instanceof DockerError)) throw error;
          if (error.status === 404) return undefined;
          // Podman answers 500 at the moment that the container's process goes away.
          if (error.status !== 500 || looks === MAX_LOOKS) throw error;
          await pause(LOOK_AGAIN_MS);
        }
      }
    },
    async list(label) {
      const filters = JSON.stringify({ label: [label] });
      const query = { all: 'true', filters };
      return listSchema.parse(await api.call('GET', '/containers/json', { query, answersWithin: LOOK_WITHIN_MS }));
    },
    close: () => pool.destroy(),
  };

  try {
    const { ApiVersion, Components } = versionSchema.parse(
      await api.call('GET', '/version', { answersWithin: LOOK_WITHIN_MS }),
    );
    prefix = `/v${ApiVersion}`;
    return { ...api, isPodman: Components?.some(({ Name }) => Name.includes('Podman')) ?? false };
  } catch (error) {
    await pool.destroy();
    throw error;
  }
}

/** The daemon's own words, which are what a user can act on. */
function errorMessage(text: string): string {
  try {
    const { message } = JSON.parse(text) as { message?: unknown };
    if (typeof message === 'string') return message;
  } catch {
    // Not JSON: a proxy or another program answers.
  }
  return text.slice(0, 500);
}
