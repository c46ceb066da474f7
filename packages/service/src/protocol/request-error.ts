import { ServiceError, type ServiceErrorCode } from '@sluice/client';

/** Every reason for rejecting a call, with its code on the wire. `docs/protocol.md` explains them. */
export const REQUEST_ERROR_CODES = {
  CREDENTIALS_INVALID: 'UNAUTHENTICATED',
  TOKEN_MISSING: 'UNAUTHENTICATED',
  TOKEN_INVALID: 'UNAUTHENTICATED',
  ACCOUNT_NOT_YOURS: 'PERMISSION_DENIED',
  CONTAINER_NOT_FOUND: 'NOT_FOUND',
  VOLUME_NOT_FOUND: 'NOT_FOUND',
  PATH_NOT_FOUND: 'NOT_FOUND',
  CONTAINER_ID_TAKEN: 'ALREADY_EXISTS',
  VOLUME_ID_TAKEN: 'ALREADY_EXISTS',
  FIELD_INVALID: 'INVALID_ARGUMENT',
  FIELD_UNKNOWN: 'INVALID_ARGUMENT',
  BODY_INVALID: 'INVALID_ARGUMENT',
  BODY_TOO_LARGE: 'INVALID_ARGUMENT',
  BODY_TYPE_UNSUPPORTED: 'INVALID_ARGUMENT',
  ID_INVALID: 'INVALID_ARGUMENT',
  PARAMETER_INVALID: 'INVALID_ARGUMENT',
  PAGE_TOKEN_INVALID: 'INVALID_ARGUMENT',
  WILDCARD_NOT_ALLOWED: 'INVALID_ARGUMENT',
  INSTANCE_TYPE_UNKNOWN: 'INVALID_ARGUMENT',
  INSTANCE_TYPE_TOO_LARGE: 'INVALID_ARGUMENT',
  MOUNT_INVALID: 'INVALID_ARGUMENT',
  MOUNT_VOLUME_UNKNOWN: 'INVALID_ARGUMENT',
  PORT_NOT_EXPOSABLE: 'INVALID_ARGUMENT',
  CONTAINER_ENDED: 'FAILED_PRECONDITION',
  VOLUME_NOT_AVAILABLE: 'FAILED_PRECONDITION',
  VOLUME_NOT_DELETING: 'FAILED_PRECONDITION',
  VOLUME_MOUNTED: 'FAILED_PRECONDITION',
  RATE_EXCEEDED: 'RESOURCE_EXHAUSTED',
  QUOTA_EXCEEDED: 'RESOURCE_EXHAUSTED',
  CONTAINERS_EXHAUSTED: 'RESOURCE_EXHAUSTED',
  ENGINE_UNAVAILABLE: 'UNAVAILABLE',
  STORAGE_UNAVAILABLE: 'UNAVAILABLE',
  STORE_UNAVAILABLE: 'UNAVAILABLE',
  STORE_FULL: 'UNAVAILABLE',
  CLOSING: 'UNAVAILABLE',
} as const satisfies Record<string, ServiceErrorCode>;
/** Sent as `details[0].reason`; clients may match on it. */
export type RequestErrorReason = keyof typeof REQUEST_ERROR_CODES;

/** The HTTP status of each code that this service uses. */
export const HTTP_STATUS: Readonly<Partial<Record<ServiceErrorCode, number>>> = {
  INVALID_ARGUMENT: 400,
  FAILED_PRECONDITION: 400,
  UNAUTHENTICATED: 401,
  PERMISSION_DENIED: 403,
  NOT_FOUND: 404,
  ALREADY_EXISTS: 409,
  RESOURCE_EXHAUSTED: 429,
  UNAVAILABLE: 503,
};

/** The HTTP status of reasons whose status differs from that of their code. */
const STATUS_OF_REASON: Readonly<Partial<Record<RequestErrorReason, number>>> = { STORE_FULL: 507 };

/** Optional parts of a `RequestError`. */
export interface RequestErrorOptions {
  /** Sent beside the reason: for example the field, the phase, or the time when an ID is free. */
  readonly details?: Readonly<Record<string, unknown>>;
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
}

/** A rejected call. In-process and HTTP callers receive the same code, reason and message. */
export class RequestError extends ServiceError {
  constructor(reason: RequestErrorReason, message: string, options: RequestErrorOptions = {}) {
    const code = REQUEST_ERROR_CODES[reason];
    super(code, message, {
      reason,
      status: STATUS_OF_REASON[reason] ?? HTTP_STATUS[code] ?? 500,
      ...(options.retryAfterMs === undefined ? {} : { retryAfterMs: options.retryAfterMs }),
      ...(options.details && { details: options.details }),
      ...(options.cause === undefined ? {} : { cause: options.cause }),
    });
  }
}
