/**
 * Why a call to the service did not give its result. The names are those of the error body's `status`,
 * and four more for replies that never came or could not be read.
 */
export type ServiceErrorCode =
  /** Not sent: name lookup, refused connection, TLS. The service saw nothing. */
  | 'UNREACHABLE'
  /** Sent, and no reply came: time-out, reset, connection closed. The service may have acted. */
  | 'NO_REPLY'
  /** A reply came that cannot be read as the protocol says. The service may have acted. */
  | 'INVALID_REPLY'
  /** The caller's own signal aborted the call, or the caller closed the client. The service may have acted. */
  | 'ABORTED'
  /** 401, also after one fresh login. */
  | 'UNAUTHENTICATED'
  /** 403 */
  | 'PERMISSION_DENIED'
  /** 404 */
  | 'NOT_FOUND'
  /** 409 */
  | 'ALREADY_EXISTS'
  /** 400 whose body says so: the thing is in a phase that does not allow the call. */
  | 'FAILED_PRECONDITION'
  /** Any other 4xx. */
  | 'INVALID_ARGUMENT'
  /** 429: quota or rate. */
  | 'RESOURCE_EXHAUSTED'
  /** 408 and 5xx. The service may have acted. */
  | 'UNAVAILABLE';

/**
 * Thrown by every implementation of `ContainerService`. Match on `code`, never on `instanceof`:
 * two copies of this package may be loaded.
 */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly code: ServiceErrorCode;
  /** HTTP status, where a reply came. */
  readonly status: number | undefined;
  /** `details[0].reason` of the error body, for example `CONTAINER_NOT_FOUND`. */
  readonly reason: string | undefined;
  /**
   * The reply is an HTTP error, but its body is no error of the protocol: a gateway before the service may have written
   * it, for example as its own page for 404. What the service itself would have said is unknown.
   */
  readonly isForeign: boolean;
  /** How long the service asked to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(
    code: ServiceErrorCode,
    message: string,
    options: {
      status?: number;
      reason?: string;
      retryAfterMs?: number;
      isForeign?: boolean;
      cause?: unknown;
    } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.status = options.status;
    this.reason = options.reason;
    this.retryAfterMs = options.retryAfterMs;
    this.isForeign = options.isForeign ?? false;
  }
}

/** Whether `error` is a `ServiceError`, of whatever copy of this package, and of one of `codes` where given. */
export function isServiceError(error: unknown, ...codes: ServiceErrorCode[]): error is ServiceError {
  if (!(error instanceof Error) || error.name !== 'ServiceError') return false;
  return codes.length === 0 || codes.includes((error as ServiceError).code);
}
