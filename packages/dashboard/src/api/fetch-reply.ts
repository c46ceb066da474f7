import { findAccount, loginUrl } from './server-account.ts';

/** Parameters of a request; undefined ones are left out. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** A reply with an error status, or no reply (`status` 0). The message is for people. */
class ReplyError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** The URL of a path of the API, relative to the page, so that the dashboard works behind a proxy's prefix. */
export function apiUrl(path: string, query: Query = {}): string {
  const url = new URL(`api/sluice/v1/${path}`, document.baseURI);
  url.hash = '';
  url.search = '';
  for (const [key, value] of Object.entries(query))
    if (value !== undefined) url.searchParams.append(key, String(value));
  return url.href;
}

/** The JSON value of a reply. Throws `ReplyError`. */
export async function fetchReply<T>(path: string, query?: Query, signal?: AbortSignal): Promise<T> {
  const reply = await send(apiUrl(path, query), signal === undefined ? {} : { signal });
  return (await reply.json()) as T;
}

/** Sends a JSON value. A repeated `key` returns the first reply again. Throws `ReplyError`. */
export async function postRequest<T>(path: string, body: unknown, key?: string): Promise<T> {
  const reply = await send(apiUrl(path), {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(key === undefined ? {} : { 'idempotency-key': key }) },
    body: JSON.stringify(body),
  });
  return (await reply.json()) as T;
}

/** Whether there was a reply other than that the user is not logged in. */
let isLoggedIn = false;

/** A reply whose status is no error. Throws `ReplyError`. On a server, a page without a login leads to the login. */
export async function send(url: string, options: RequestInit): Promise<Response> {
  let reply: Response;
  try {
    reply = await fetch(url, options);
  } catch (error) {
    if (options.signal?.aborted) throw error;
    const isOpen = options.method === 'POST' ? ' It may still do what was requested.' : '';
    throw new ReplyError(0, `The server does not reply. Is it still running?${isOpen}`);
  }
  if (reply.status === 401) {
    const login = isLoggedIn ? undefined : loginUrl(location.href);
    if (login !== undefined) location.replace(login);
    throw new ReplyError(401, `${await messageOf(reply)}; ${adviceOnLogin()}`);
  }
  isLoggedIn = true;
  if (!reply.ok && reply.status !== 416) throw new ReplyError(reply.status, await messageOf(reply));
  return reply;
}

function adviceOnLogin(): string {
  if (findAccount(location.href) !== undefined) return 'reload the page to log in again';
  return 'type `sluice ui` in a terminal, and open the link that it prints';
}

async function messageOf(reply: Response): Promise<string> {
  try {
    const { message } = (await reply.json()) as { message?: unknown };
    if (typeof message === 'string') return message;
  } catch {
    // Not a reply of the API, for example that of a proxy.
  }
  return `The server replied with status ${reply.status}.`;
}

/** Whether the server has rejected the request itself, so that waiting does not help. */
export function isRejection(error: unknown): boolean {
  return error instanceof ReplyError && error.status >= 400 && error.status < 500;
}

/** What to show for something that was thrown. */
export function messageFor(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
