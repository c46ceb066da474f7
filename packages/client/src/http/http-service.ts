import type { Dispatcher } from 'undici';
import type { ContainerService, Ref } from '../container-service.ts';
import { ServiceError } from '../service-error.ts';
import { createWebDavFiles } from '../webdav/webdav-files.ts';
import type { VolumeService } from '../wire/volume.ts';
import { type Api, createApi } from './api.ts';
import { systemClock } from './clock.ts';
import { httpContainers } from './http-containers.ts';
import { httpDiscovery } from './http-discovery.ts';
import { DEFAULT_TIMEOUTS, type HttpServiceOptions } from './http-service-options.ts';
import { httpVolumes } from './http-volumes.ts';
import { openPool, pickObserver } from './open-pool.ts';
import { type Address, parseAddress } from './parse-address.ts';
import { commonHeaders, createTokenSource, DEFAULT_TOKEN_HEADER } from './token-source.ts';
import { parseTransferAddress } from './transfer-address.ts';

/** Maximum requests in flight to one service; further requests are queued. Streams (logs, files) do not count. */
const MAX_CALLS = 64;
/** A page of a thousand rich items is about 1 MiB. */
const MAX_REPLY_BYTES = 32 * 1024 * 1024;

/**
 * A v1rc1 service over HTTP(S) or a unix socket. Sends nothing before the first call; throws `TypeError` for an invalid
 * address. Idempotent requests are sent up to four times, `containers.create` and `volumes.create` once. The caller
 * closes the service.
 */
export function createHttpService(options: HttpServiceOptions): ContainerService {
  return createHttpConnection(options).service;
}

/** A service, and other APIs at its address that accept the same login. */
export interface HttpConnection {
  readonly service: ContainerService;
  /** The API with this path after that of `baseUrl`, for example `/api/v1rc1`. Closed with the service. */
  api(path: string): Api;
}

/** As `createHttpService`, for callers that also use another API at the address. */
export function createHttpConnection(options: HttpServiceOptions): HttpConnection {
  const base = parseAddress('baseUrl', options.baseUrl);
  const auth = options.authUrl === undefined ? base : parseAddress('authUrl', options.authUrl);
  const timeouts = { ...DEFAULT_TIMEOUTS, ...options.timeouts };
  const clock = options.clock ?? systemClock;
  const headers = commonHeaders(options);
  const pools = createPools(options, { base, connectMs: timeouts.connectMs });
  const calls = pools.calls(base.origin);
  const tokens = createTokenSource({
    dispatcher: pools.calls(auth.origin),
    basePath: auth.path,
    credentials: options,
    tokenHeader: options.tokenHeader ?? DEFAULT_TOKEN_HEADER,
    headers,
    timeouts,
    clock,
  });
  const streams = pools.streams(base.origin);
  const openApi = (path: string) =>
    createApi({ calls, streams, basePath: `${base.path}${path}`, headers, tokens, timeouts, clock });
  const api = openApi('/api/v1rc1');
  const files = (ref: Ref, login: VolumeService) => {
    const url = login.address.webdav;
    if (url === undefined) {
      throw new ServiceError('INVALID_ARGUMENT', `could not open the files of volume ${ref.id}: no WebDAV address`);
    }
    return createWebDavFiles({
      url: parseTransferAddress(url, { base: options.baseUrl, what: `open the files of volume ${ref.id}` }),
      username: login.username,
      password: login.password,
      dispatcher: (origin) => pools.streams(origin),
      userAgent: headers['user-agent'],
      timeouts,
      clock,
    });
  };
  const service = {
    discovery: httpDiscovery(api),
    containers: httpContainers(api, { bodyMs: timeouts.bodyMs }),
    volumes: { ...httpVolumes(api), files },
    watch: () => undefined,
    close: () => pools.close(),
  };
  return { service, api: openApi };
}

/** Connections by origin and use. The unix socket replaces only the origin of `baseUrl`. */
function createPools(options: HttpServiceOptions, at: { base: Address; connectMs: number }) {
  const open = new Map<string, Dispatcher>();
  const pool = (use: 'calls' | 'streams', origin: string): Dispatcher => {
    const key = `${use} ${origin}`;
    const known = open.get(key);
    if (known !== undefined) return known;
    const fresh = openPool(origin, {
      connectMs: at.connectMs,
      ...(options.socketPath !== undefined && origin === at.base.origin ? { socketPath: options.socketPath } : {}),
      ...(options.ca === undefined ? {} : { ca: options.ca }),
      ...pickObserver(options),
      ...(use === 'calls' ? { connections: MAX_CALLS, maxReplyBytes: MAX_REPLY_BYTES } : {}),
    });
    open.set(key, fresh);
    return fresh;
  };
  return {
    calls: (origin: string) => pool('calls', origin),
    streams: (origin: string) => pool('streams', origin),
    close: async () => {
      await Promise.all([...open.values()].map((it) => it.destroy()));
    },
  };
}
