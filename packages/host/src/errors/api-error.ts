import { type ErrorBody, isServiceError } from '@sluice/client';
import { isSystemError } from '@sluice/host-system';
import type { RunError } from '@sluice/run';

/** A rejected request. The message goes to the client. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** The HTTP status. */
  readonly status: number;
  /** The precise cause, in capitals. */
  readonly reason: string;
  /** Sent beside the reason: for example a limit and what counts towards it. */
  details: Readonly<Record<string, unknown>> = {};
  retryAfterMs?: number;

  constructor(status: number, reason: string, message: string) {
    super(message);
    this.status = status;
    this.reason = reason;
  }

  /** This error, which says when the request may succeed. */
  retryAfter(milliseconds: number): this {
    this.retryAfterMs = milliseconds;
    return this;
  }
}

/** Statuses of a `RunError`; all others are conflicts with the state of the run. */
const REJECTIONS: Partial<Record<RunError['code'], number>> = {
  RUN_NOT_FOUND: 404,
  STEP_NOT_FOUND: 404,
  CELL_NOT_FOUND: 404,
  SERVICE_UNREACHABLE: 503,
  HOME_UNUSABLE: 503,
};

/** A rejection of the runner as an error of the API. */
export function fromRunError({ code, message }: RunError): ApiError {
  return new ApiError(REJECTIONS[code] ?? 409, code, message);
}

const STATUS_NAMES: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  409: 'FAILED_PRECONDITION',
  416: 'INVALID_ARGUMENT',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
};

const DISK_FULL =
  'could not store the request because the disk with the runs of the server is full; free disk space on the server, then try again';

/** The body of the reply to a request that failed, in the form of the protocol. Reveals nothing about an internal error. */
export function renderError(error: unknown): ErrorBody {
  if (error instanceof ApiError) {
    return describe(error.status, error.message, { reason: error.reason, ...error.details });
  }
  if (isServiceError(error)) {
    const { status = 503, code, message, reason } = error;
    return { code: status, status: code, message, ...(reason !== undefined && { details: [{ reason }] }) };
  }
  if (isSystemError(error, 'ENOSPC', 'EDQUOT')) {
    return describe(507, DISK_FULL, { reason: 'STORE_FULL' });
  }
  const { statusCode } = error as { statusCode?: unknown };
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500) {
    return describe(statusCode, error instanceof Error ? error.message : String(error));
  }
  return describe(500, 'could not serve the request because of an internal error');
}

function describe(code: number, message: string, details?: { readonly reason: string }): ErrorBody {
  const status = STATUS_NAMES[code] ?? (code >= 500 ? 'UNAVAILABLE' : 'INVALID_ARGUMENT');
  return { code, status, message, ...(details && { details: [details] }) };
}
