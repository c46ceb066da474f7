import type { Scope } from '@sluice/client';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { renderError } from '../errors/api-error.ts';
import { PAGE_HEADERS } from '../listener/protect-listener.ts';
import { type StaticFile, sendStaticFile } from '../listener/static-files.ts';
import { readDestination, renderAccounts, renderLogin, renderProblem } from './login-page.ts';
import { LOGIN_STYLE } from './login-style.ts';
import { readCookie, renderCookie, requireOwnOrigin } from './session-cookie.ts';

/** How users of a server log in to its dashboard. */
export interface HostedPagesOptions {
  /** The files of the dashboard. */
  readonly files: ReadonlyMap<string, StaticFile>;
  /** The accounts of the user of a token; undefined if the token is not valid. */
  readonly accountsOf: (token: string) => readonly Scope[] | undefined;
  /** Issues a token. Throws an error of the protocol. */
  readonly login: (
    http: FastifyRequest,
    user: { readonly email: string; readonly password: string },
  ) => Promise<string>;
  /** Makes a token invalid. */
  readonly logout: (token: string) => Promise<void>;
}

/**
 * Of pages that have only a form. Under the policy `no-referrer` of the other pages, a browser sends a form with
 * `Origin: null`, so that no login would be accepted.
 */
const FORM_HEADERS = {
  'content-security-policy':
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'referrer-policy': 'same-origin',
} as const;
const MAX_FIELD = 320;
const MAX_DESTINATION = 2_000;
const ICON = /^\/assets\/icon-[^/]*\.svg$/;

/**
 * Adds the dashboard below `/ui/CLUSTER/ACCOUNT/`, and the page that logs a user in. The dashboard itself is the same for
 * every path, whether or not there is such an account: only its API has data.
 */
export async function addHostedPages(server: FastifyInstance, options: HostedPagesOptions): Promise<void> {
  const { files } = options;
  const icon = [...files.keys()].find((path) => ICON.test(path)) ?? '';
  await server.register(async (scope) => {
    scope.addHook('onRequest', async (http, reply) => {
      void reply.headers(PAGE_HEADERS).header('cache-control', 'no-store');
      requireOwnOrigin(http);
    });
    scope.setErrorHandler((error, _, reply) => {
      const body = renderError(error);
      return sendPage(reply.code(body.code), renderProblem(body.message));
    });
    scope.get('/ui', async (_, reply) => reply.redirect('/ui/', 308));
    scope.get('/ui/login.css', async (_, reply) => reply.type('text/css; charset=utf-8').send(LOGIN_STYLE));
    scope.get('/ui/icon.svg', async (_, reply) => sendStaticFile(reply, { files, path: icon }));
    addForms(scope, options);
    scope.get('/ui/:clusterId/:accountId', async ({ url }, reply) => reply.redirect(`${url.split('?')[0]}/`, 308));
    scope.get('/ui/:clusterId/:accountId/*', async (http, reply) => {
      const { '*': path } = http.params as { '*': string };
      return sendStaticFile(reply, { files, path: `/${path}` });
    });
  });
}

/** Login, logout and the list of accounts. */
function addForms(scope: FastifyInstance, { accountsOf, login, logout }: HostedPagesOptions): void {
  scope.get('/ui/', async (http, reply) => {
    const token = readCookie(http);
    const accounts = token === undefined ? undefined : accountsOf(token);
    const wanted = readDestination((http.query as { to?: unknown }).to);
    if (accounts === undefined) return sendPage(reply, renderLogin({ to: wanted?.to }));
    const isOwn = accounts.some((own) => isSame(own, wanted?.scope));
    return isOwn ? reply.redirect(`/ui/${wanted?.to}`, 303) : sendPage(reply, renderAccounts(accounts));
  });
  // A form that failed, and is reloaded.
  scope.get('/ui/login', async (_, reply) => reply.redirect('/ui/', 303));
  scope.post('/ui/login', async (http, reply) => {
    const fields = http.body as { email?: unknown; password?: unknown; to?: unknown } | undefined;
    const [email, password] = [textOf(fields?.email), textOf(fields?.password)];
    const to = readDestination(textOf(fields?.to, MAX_DESTINATION))?.to;
    try {
      const token = await login(http, { email, password });
      return await reply.header('set-cookie', renderCookie(http, token)).redirect(`/ui/${to ?? ''}`, 303);
    } catch (error) {
      const { code, message } = renderError(error);
      return sendPage(reply.code(code), renderLogin({ message, email, to }));
    }
  });
  scope.post('/ui/logout', async (http, reply) => {
    const token = readCookie(http);
    if (token !== undefined) await logout(token);
    return reply.header('set-cookie', renderCookie(http)).redirect('/ui/', 303);
  });
}

function isSame(own: Scope, wanted: Scope | undefined): boolean {
  return own.clusterID === wanted?.clusterID && own.accountID === wanted.accountID;
}

function sendPage(reply: FastifyReply, page: string): FastifyReply {
  return reply.headers(FORM_HEADERS).type('text/html; charset=utf-8').send(page);
}

function textOf(value: unknown, maximum = MAX_FIELD): string {
  return typeof value === 'string' ? value.slice(0, maximum) : '';
}
