import { fail, ok, type Result } from '@sluice/core';

/** Why spans were not accepted. */
export interface TraceError {
  /** For people. */
  readonly message: string;
  /** Whether the same spans may be accepted later. */
  readonly isTemporary: boolean;
}

/** Receives the spans of runs. */
export interface TraceSink {
  /** Sends the body of one request. A success with a message: the collector has accepted only a part. */
  send(body: string): Promise<Result<string | undefined, TraceError>>;
}

const REQUEST_MS = 5_000;
/** The statuses after which the protocol allows another attempt. */
const TEMPORARY: ReadonlySet<number> = new Set([429, 502, 503, 504]);
const MAX_MESSAGE_LENGTH = 500;

/** Sends spans to a collector over HTTP. `url` is the base to which OTLP adds `v1/traces`; it contains no password. */
export function createTraceSink(
  url: string,
  { headers = {} }: { readonly headers?: Readonly<Record<string, string>> } = {},
): TraceSink {
  const endpoint = new URL(url);
  endpoint.pathname = `${endpoint.pathname.replace(/\/+$/, '')}/v1/traces`;
  // Without a query, which may contain a key.
  const shown = `${endpoint.origin}${endpoint.pathname}`;
  return {
    async send(body) {
      try {
        const reply = await fetch(endpoint, {
          ...{ method: 'POST', body, redirect: 'error' },
          headers: { ...headers, 'content-type': 'application/json' },
          signal: AbortSignal.timeout(REQUEST_MS),
        });
        const text = await reply.text();
        if (reply.ok) return ok(findRejection(text));
        const message = `${shown} answered ${reply.status} ${text.slice(0, MAX_MESSAGE_LENGTH).trim()}`.trimEnd();
        return fail({ message, isTemporary: TEMPORARY.has(reply.status) });
      } catch (error) {
        const { message, cause } = error as Error & { readonly cause?: Error };
        const why = cause?.message ? `${message}: ${cause.message}` : message;
        return fail({ message: `could not reach ${shown}: ${why}`, isTemporary: true });
      }
    },
  };
}

/** What a collector says about spans that it did not accept, or could not read completely. */
function findRejection(text: string): string | undefined {
  try {
    const { partialSuccess } = JSON.parse(text) as {
      partialSuccess?: { errorMessage?: string; rejectedSpans?: string };
    };
    const { errorMessage = '', rejectedSpans = 0 } = partialSuccess ?? {};
    if (errorMessage === '' && Number(rejectedSpans) === 0) return undefined;
    return `the collector rejected ${rejectedSpans} spans: ${errorMessage.slice(0, MAX_MESSAGE_LENGTH)}`;
  } catch {
    return undefined;
  }
}
