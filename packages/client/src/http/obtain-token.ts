import { systemClock } from './clock.ts';
import { DEFAULT_TIMEOUTS, type HttpServiceAddress, type Login } from './http-service-options.ts';
import { openPool, pickObserver } from './open-pool.ts';
import { parseAddress } from './parse-address.ts';
import { commonHeaders, createTokenSource, DEFAULT_TOKEN_HEADER } from './token-source.ts';

/**
 * Logs in once and returns the token, which is valid for as long as the service decides. Throws `ServiceError` with
 * `UNAUTHENTICATED` for a wrong login, and `TypeError` for an invalid address. `createHttpService` logs in by itself.
 */
export async function obtainToken(
  options: Omit<HttpServiceAddress, 'socketPath'> & { readonly login: Login },
): Promise<string> {
  const { origin, path } = parseAddress('authUrl', options.authUrl ?? options.baseUrl);
  const timeouts = { ...DEFAULT_TIMEOUTS, ...options.timeouts };
  const dispatcher = openPool(origin, {
    connectMs: timeouts.connectMs,
    ...(options.ca === undefined ? {} : { ca: options.ca }),
    ...pickObserver(options),
  });
  try {
    return await createTokenSource({
      dispatcher,
      basePath: path,
      credentials: { login: options.login },
      tokenHeader: options.tokenHeader ?? DEFAULT_TOKEN_HEADER,
      headers: commonHeaders(options),
      timeouts,
      clock: options.clock ?? systemClock,
    }).current();
  } finally {
    await dispatcher.destroy();
  }
}
