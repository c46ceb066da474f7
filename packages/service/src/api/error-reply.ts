import { type ErrorBody, isServiceError, type ServiceError } from '@sluice/client';
import { HTTP_STATUS } from '../protocol/request-error.ts';

/** The HTTP reply to a rejected or failed request. */
export interface ErrorReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ErrorBody;
}

/** Error codes for HTTP statuses that no `RequestError` stands for. */
const STATUS_NAMES: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  404: 'NOT_FOUND',
  405: 'INVALID_ARGUMENT',
  408: 'UNAVAILABLE',
  413: 'INVALID_ARGUMENT',
  414: 'INVALID_ARGUMENT',
  415: 'INVALID_ARGUMENT',
  431: 'INVALID_ARGUMENT',
  503: 'UNAVAILABLE',
};

/** Never reveals the message of an internal error. Bodies are flat: published clients read `code` and `message` at the top level. */
export function renderError(error: unknown): ErrorReply {
  if (isServiceError(error)) return renderRejection(error);
  if (isDiskFull(error)) return plainError(507, 'could not serve the request because a disk is full', 'STORE_FULL');
  const status = statusOf(error);
  // The message of an internal error may contain paths of the host, so it goes only to the log.
  const message = status >= 500 ? 'could not serve the request because of an internal error' : messageOf(error);
  return plainError(status, message);
}

/** The reply for an error that has only an HTTP status. */
export function plainError(status: number, message: string, reason?: string): ErrorReply {
  const name = STATUS_NAMES[status] ?? (status >= 500 ? 'UNAVAILABLE' : 'INVALID_ARGUMENT');
  const details = reason === undefined ? {} : { details: [{ reason }] };
  return { status, headers: {}, body: { code: status, status: name, message, ...details } };
}

function renderRejection(error: ServiceError & { readonly details?: Readonly<Record<string, unknown>> }): ErrorReply {
  const status = error.status ?? HTTP_STATUS[error.code] ?? 500;
  const headers: Record<string, string> = {};
  if (error.retryAfterMs !== undefined)
    headers['retry-after'] = String(Math.max(1, Math.ceil(error.retryAfterMs / 1000)));
  if (status === 401) headers['www-authenticate'] = 'Bearer';
  const details = error.reason === undefined ? {} : { details: [{ reason: error.reason, ...error.details }] };
  return { status, headers, body: { code: status, status: error.code, message: error.message, ...details } };
}

/** Whether the file system is full, which is not reported as a `RequestError`. */
function isDiskFull(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return code === 'ENOSPC' || code === 'EDQUOT';
}

function statusOf(error: unknown): number {
  const status = (error as { statusCode?: unknown } | null)?.statusCode;
  return typeof status === 'number' && status >= 400 && status < 600 ? status : 500;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
