import { ServiceError } from '../service-error.ts';
import { isConnectError } from './open-pool.ts';

/** Invalid replies: broken framing, endless headers, too many bytes. */
const UNREADABLE = new Set(['UND_ERR_HEADERS_OVERFLOW', 'UND_ERR_RES_EXCEEDED_MAX_SIZE']);

/** Bugs in Sluice, thrown before anything is sent. */
const OUR_MISTAKE = new Set(['UND_ERR_INVALID_ARG', 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH', 'ERR_INVALID_ARG_TYPE']);

/** The error for an exchange that failed below HTTP. Bugs of Sluice are returned unchanged. */
export function sendError(cause: unknown, about: { what: string; signal?: AbortSignal | undefined }): unknown {
  if (cause instanceof ServiceError) return cause;
  if (about.signal?.aborted === true) return abortedError(about.what, cause);
  const code = errorCode(cause);
  const why = code ?? (cause instanceof Error ? cause.message : String(cause));
  if (isConnectError(cause)) {
    return new ServiceError('UNREACHABLE', `could not ${about.what}: no connection to the service (${why})`, { cause });
  }
  if (code === 'UND_ERR_DESTROYED' || code === 'UND_ERR_CLOSED') {
    // Includes requests that were in flight when the client was closed, so it is unknown whether this one was sent.
    return new ServiceError('ABORTED', `could not ${about.what}: the client is closed`, { cause });
  }
  if (code !== undefined && OUR_MISTAKE.has(code)) return cause;
  if (cause instanceof Error && cause.name === 'HTTPParserError') {
    // Omits the cause, which contains the bytes of the reply.
    return new ServiceError('INVALID_REPLY', `could not ${about.what}: the reply is not HTTP`);
  }
  if (code !== undefined && UNREADABLE.has(code)) {
    return new ServiceError('INVALID_REPLY', `could not ${about.what}: the reply cannot be read (${why})`, { cause });
  }
  return new ServiceError('NO_REPLY', `could not ${about.what}: the reply did not come or broke off (${why})`, {
    cause,
  });
}

/** The error for a call that its caller's signal ended. */
export function abortedError(what: string, cause?: unknown): ServiceError {
  return new ServiceError('ABORTED', `could not ${what}: aborted by the caller`, { cause });
}

function errorCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
