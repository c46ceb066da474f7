import { SluiceError } from '@sluice/core';

/** Sends a request; the reply may be a rejection. Throws `SluiceError`. */
export async function sendRequest(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, { redirect: 'error', ...init });
  } catch (error) {
    throw toSluiceError(error);
  }
}

/** The reply, if it is no rejection. Throws `SluiceError` otherwise. */
export async function requireOk(reply: Response): Promise<Response> {
  if (reply.ok) return reply;
  const { status, message, details } = (await readJson(reply)) as Rejection;
  throw new SluiceError(details?.[0]?.reason ?? status ?? 'INVALID_REPLY', message ?? `status ${reply.status}`);
}

/** As `Error` of the OpenAPI document; something between client and server may send anything. */
interface Rejection {
  readonly status?: string;
  readonly message?: string;
  readonly details?: readonly { readonly reason?: string }[];
}

/** The JSON value of a reply. Throws `SluiceError`. */
export async function readJson(reply: Response): Promise<unknown> {
  const text = await reply.text().catch((error: unknown) => {
    throw toSluiceError(error);
  });
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new SluiceError('INVALID_REPLY', `${reply.url} has sent no JSON, with status ${reply.status}`, { cause });
  }
}

/** The codes of errors that `fetch` throws, and of an event that is no JSON, by their names. */
const CODES: ReadonlyMap<string, string> = new Map([
  ['AbortError', 'ABORTED'],
  ['TimeoutError', 'ABORTED'],
  ['SyntaxError', 'INVALID_REPLY'],
]);

/** What was thrown while a reply was awaited or read, as an error of the client. */
export function toSluiceError(error: unknown): SluiceError {
  if (error instanceof SluiceError) return error;
  const { name, message, cause } = error as Error;
  const code = CODES.get(name) ?? 'UNREACHABLE';
  const reason = cause instanceof Error ? `: ${cause.message}` : '';
  return new SluiceError(code, `could not call the run API: ${message}${reason}`, { cause: error });
}
