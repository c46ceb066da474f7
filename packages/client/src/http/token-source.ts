import { createHash } from 'node:crypto';
import type { Dispatcher } from 'undici';
import { own } from '../own.ts';
import { ServiceError } from '../service-error.ts';
import type { Clock } from './clock.ts';
import { exchange, type Reply, readText } from './exchange.ts';
import type { Credentials, HttpServiceAddress, Timeouts } from './http-service-options.ts';
import { hiddenError, replyError } from './reply-error.ts';
import { parseRetryAfter } from './retry-after.ts';
import { tryAgain } from './try-again.ts';

/** Provides tokens. Concurrent callers share one login. */
export interface TokenSource {
  /** The current token; logs in if there is none. */
  current(): Promise<string>;
  /** After a 401 for `rejected`: another token, or undefined if none can be obtained. */
  replace(rejected: string): Promise<string | undefined>;
  /** Replaces all secrets in `text`. */
  redact(text: string): string;
  /** The secrets, without those so short that they occur in ordinary text. */
  secrets(): readonly string[];
}

/** How to log in, and the credentials for it. */
export interface LoginOptions {
  readonly dispatcher: Dispatcher;
  /** Path of `authUrl`, without a trailing slash. */
  readonly basePath: string;
  readonly credentials: Credentials;
  readonly tokenHeader: string;
  readonly headers: Record<string, string>;
  readonly timeouts: Timeouts;
  readonly clock: Clock;
}

/** The response header with the token, where the service names no other. */
export const DEFAULT_TOKEN_HEADER = 'svc_token';

/** The headers of every request. */
export function commonHeaders({ userAgent = 'sluice' }: Pick<HttpServiceAddress, 'userAgent'>) {
  return { 'user-agent': userAgent, accept: 'application/json, text/plain;q=0.9' };
}

/** Sends nothing before the first call of `current`. A fixed token is never replaced. */
export function createTokenSource(options: LoginOptions): TokenSource {
  const { credentials } = options;
  if (credentials.token !== undefined) {
    const { token } = credentials;
    return {
      current: async () => token,
      replace: async () => undefined,
      redact: (text) => hide(text, [token]),
      secrets: () => telling([token]),
    };
  }
  const digest = createHash('md5').update(credentials.login.password).digest('hex');
  const secrets = new Set([credentials.login.password, digest]);
  let token: string | undefined;
  let login: Promise<string> | undefined;
  const renew = (): Promise<string> => {
    login ??= logIn(options, { email: credentials.login.email, digest })
      .then((fresh) => {
        if (token !== undefined) secrets.delete(token);
        secrets.add(fresh);
        token = fresh;
        return fresh;
      })
      .finally(() => {
        login = undefined;
      });
    return login;
  };
  return {
    current: async () => token ?? (await renew()),
    replace: async (rejected) => (token !== undefined && token !== rejected ? token : await renew()),
    redact: (text) => hide(text, secrets),
    secrets: () => telling(secrets),
  };
}

const SHORTEST_TELLING = 8;

function telling(secrets: Iterable<string>): string[] {
  return [...secrets].filter((secret) => secret.length >= SHORTEST_TELLING);
}

function hide(text: string, secrets: Iterable<string>): string {
  let shown = text;
  for (const secret of secrets) if (secret.length > 3) shown = shown.replaceAll(secret, '[secret]');
  return shown;
}

/** Endpoint 13. Ignores the caller's signal, because other callers wait for the same login. */
function logIn(options: LoginOptions, login: { email: string; digest: string }): Promise<string> {
  const what = 'log in';
  const form = new URLSearchParams({
    token_type: 'TOKEN',
    third_party: 'SELF',
    email: login.email,
    password: login.digest,
  });
  const request = {
    method: 'POST',
    path: `${options.basePath}/user/api/login`,
    headers: { ...options.headers, 'content-type': 'application/x-www-form-urlencoded' },
    body: form.toString(),
    what,
    replyMs: options.timeouts.replyMs,
    bodyMs: options.timeouts.bodyMs,
  };
  const once = async (): Promise<string> => {
    const reply = await exchange(options.dispatcher, request);
    const body = hide(await readText(reply, request), [login.digest]);
    if (reply.statusCode < 200 || reply.statusCode > 299) {
      const retryAfterMs = parseRetryAfter(reply.headers['retry-after'], options.clock.now());
      throw replyError(what, { status: reply.statusCode, body, retryAfterMs });
    }
    return tokenOf(reply, body, options.tokenHeader);
  };
  return tryAgain(once, { clock: options.clock, what });
}

function tokenOf(reply: Reply, body: string, headerName: string): string {
  const value = own(reply.headers, headerName.toLowerCase());
  const token = (Array.isArray(value) ? value[0] : value)?.trim();
  // A token that is not a valid header value would fail later, with the token in the message.
  if (token !== undefined && /^[\x21-\x7e]{1,8192}$/.test(token)) return token;
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    parsed = undefined;
  }
  throw (
    hiddenError('log in', reply.statusCode, parsed) ??
    new ServiceError('INVALID_REPLY', `could not log in: the reply carries no token in the header ${headerName}`, {
      status: reply.statusCode,
    })
  );
}
