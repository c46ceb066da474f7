import type { FastifyRequest } from 'fastify';
import type { Principal } from '../accounts/principal.ts';
import { RequestError } from '../protocol/request-error.ts';

/** The bearer token of a request; undefined if it has none. */
export function tokenOf({ headers }: Pick<FastifyRequest, 'headers'>): string | undefined {
  return /^bearer ([A-Za-z0-9_.~+/=-]{1,512})$/i.exec(headers.authorization ?? '')?.[1];
}

/** The caller of a request with a bearer token. Throws `RequestError`. */
export function principalOf(
  request: Pick<FastifyRequest, 'headers'>,
  find: (token: string) => Principal | undefined,
): Principal {
  const { authorization } = request.headers;
  const token = tokenOf(request);
  if (authorization === undefined || authorization === '') {
    throw new RequestError(
      'TOKEN_MISSING',
      'could not accept the request without a token; log in and send it as Bearer',
    );
  }
  const principal = token === undefined ? undefined : find(token);
  if (principal === undefined) {
    throw new RequestError('TOKEN_INVALID', 'could not accept the token because it is unknown or expired');
  }
  return principal;
}
