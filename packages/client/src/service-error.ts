/**
 * Why a call to the service failed. The names are those of the error body's `status`, and four more for replies that
 * never arrived or could not be read.
 */
export type ServiceErrorCode =
  /** Not sent: name lookup, rejected connection, TLS. The service has not received it. */
  | 'UNREACHABLE'
  /** Sent, but no reply arrived: timeout, reset, connection closed. The service may have acted. */
  | 'NO_REPLY'
  /** The reply does not conform to the protocol. The service may have acted. */
  | 'INVALID_REPLY'
  /** The caller's signal aborted the call, or the caller closed the client. The service may have acted. */
  | 'ABORTED'
  /** 401, even after a new login. */
  | 'UNAUTHENTICATED'
  /** 403 */
  | 'PERMISSION_DENIED'
  /** 404 */
  | 'NOT_FOUND'
  /** 409 */
  | 'ALREADY_EXISTS'
  /** 400 with this code in the body: the phase of the container or volume does not allow the call. */
  | 'FAILED_PRECONDITION'
  /** Any other 4xx. */
  | 'INVALID_ARGUMENT'
  /** 429: quota or rate. */
  | 'RESOURCE_EXHAUSTED'
  /** 408 and 5xx. The service may have acted. */
  | 'UNAVAILABLE';

/**
 * Thrown by every implementation of `ContainerService`. Use `isServiceError` or match on `code`, never on `instanceof`:
 * two copies of this package may be loaded.
 */
export class ServiceError extends Error {
  /** Identifies the class across copies of this package. */
  override readonly name = 'ServiceError';
  /** The stable cause; `message` may change. */
  readonly code: ServiceErrorCode;
  /** HTTP status, if a reply arrived. */
  readonly status: number | undefined;
  /** `details[0].reason` of the error body, for example `CONTAINER_NOT_FOUND`. */
  readonly reason: string | undefined;
  /** The other values of `details[0]`, for example a limit and what counts towards it; empty if there are none. */
  readonly details: Readonly<Record<string, unknown>>;
  /**
   * The reply is an HTTP error without a body of the protocol: a gateway before the service may have sent it, for
   * example its own page for 404. How the service itself would answer is unknown.
   */
  readonly isForeign: boolean;
  /** The delay that the service requested, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(
    code: ServiceErrorCode,
    message: string,
    options: {
      status?: number;
      reason?: string;
      details?: Readonly<Record<string, unknown>>;
      retryAfterMs?: number;
      isForeign?: boolean;
      cause?: unknown;
    } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.status = options.status;
    this.reason = options.reason;
    this.details = options.details ?? {};
    this.retryAfterMs = options.retryAfterMs;
    this.isForeign = options.isForeign ?? false;
  }
}

/** Whether `error` is a `ServiceError` of any copy of this package and, if given, has one of `codes`. */
export function isServiceError(error: unknown, ...codes: ServiceErrorCode[]): error is ServiceError {
  if (!(error instanceof Error) || error.name !== 'ServiceError') return false;
  return codes.length === 0 || codes.includes((error as ServiceError).code);
}
