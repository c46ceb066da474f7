import { ServiceError, type ServiceErrorCode } from '../service-error.ts';

/** The parts of an error reply from which the error is made. */
export interface ReplyFault {
  readonly status: number;
  readonly body: string;
  readonly retryAfterMs: number | undefined;
}

const MAX_MESSAGE = 500;
const MAX_ERROR_BODY = 65_536;

/** The error for a reply whose status is not 2xx. `what` describes the call, after "could not". */
export function replyError(what: string, fault: ReplyFault): ServiceError {
  const said = readErrorBody(fault.body);
  const code = codeOfStatus(fault.status, said.status);
  const words = said.message === undefined ? '' : ` ${said.message}`;
  return new ServiceError(code, `could not ${what}: the service replied ${fault.status}${words}`, {
    status: fault.status,
    isForeign: !said.isOurs,
    ...(said.details && { details: said.details }),
    ...(said.reason === undefined ? {} : { reason: said.reason }),
    ...(fault.retryAfterMs === undefined ? {} : { retryAfterMs: fault.retryAfterMs }),
  });
}

/**
 * The error of a reply with status 200 whose body has an error `code`, as some services send; undefined for other
 * bodies.
 */
export function hiddenError(what: string, status: number, body: unknown): ServiceError | undefined {
  if (!isRecord(body)) return undefined;
  const code = typeof body.code === 'string' && /^\d+$/.test(body.code) ? Number(body.code) : body.code;
  if (typeof code !== 'number' || code === 0 || code === 200) return undefined;
  const said = errorFields(body);
  const meant = code >= 400 && code <= 599 ? codeOfStatus(code, said.status) : 'INVALID_REPLY';
  const words = said.message === undefined ? '' : ` ${said.message}`;
  return new ServiceError(meant, `could not ${what}: the service replied ${status} with code ${code}${words}`, {
    status,
    ...(said.reason === undefined ? {} : { reason: said.reason }),
  });
}

function codeOfStatus(status: number, named: string | undefined): ServiceErrorCode {
  if (status < 400) return 'INVALID_REPLY';
  if (status === 408 || status >= 500) return 'UNAVAILABLE';
  if (status === 400 && (named === 'FAILED_PRECONDITION' || named === 'ALREADY_EXISTS')) return named;
  return CODES.get(status) ?? 'INVALID_ARGUMENT';
}

const CODES = new Map<number, ServiceErrorCode>([
  [401, 'UNAUTHENTICATED'],
  [403, 'PERMISSION_DENIED'],
  [404, 'NOT_FOUND'],
  [409, 'ALREADY_EXISTS'],
  [429, 'RESOURCE_EXHAUSTED'],
]);

interface Said {
  readonly message?: string | undefined;
  readonly status?: string | undefined;
  readonly reason?: string | undefined;
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  /** Whether it is an error of the protocol: an object with `code` and `message`. */
  readonly isOurs: boolean;
}

function readErrorBody(text: string): Said {
  if (text.length <= MAX_ERROR_BODY) {
    try {
      const body: unknown = JSON.parse(text);
      if (isRecord(body)) return errorFields(body);
      if (typeof body === 'string') return { message: tidy(body), isOurs: false };
    } catch {
      // Not JSON but a proxy's page or plain text, which is read below.
    }
  }
  const title = /<title[^>]*>([^<]{1,200})/i.exec(text.slice(0, MAX_ERROR_BODY))?.[1];
  return { message: tidy(title ?? (text.trimStart().startsWith('<') ? '' : text)), isOurs: false };
}

/** Reads the fields at the top level or under `error`, and the message under all names in use. */
function errorFields(body: Record<string, unknown>): Said {
  const inner = isRecord(body.error) ? body.error : body;
  const first = Array.isArray(inner.details) ? inner.details[0] : undefined;
  const { reason, ...details } = isRecord(first) ? first : { reason: inner.reason };
  const message = [inner.message, inner.msg, inner.detail, inner.error, inner.title].find(
    (it) => typeof it === 'string',
  );
  return {
    message: tidy(message),
    status: typeof inner.status === 'string' ? inner.status : undefined,
    reason: typeof reason === 'string' && reason.length <= 100 ? reason : undefined,
    details,
    isOurs: ['number', 'string'].includes(typeof inner.code) && typeof inner.message === 'string',
  };
}

/** One printable line of limited length; undefined if it is empty. */
function tidy(text: unknown): string | undefined {
  if (typeof text !== 'string') return undefined;
  const line = text
    .slice(0, MAX_MESSAGE * 4)
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim();
  if (line === '') return undefined;
  const isCut = line.length > MAX_MESSAGE || text.length > MAX_MESSAGE * 4;
  // Says where it was cut: readers hide the beginning of a secret there.
  return isCut ? `${line.slice(0, MAX_MESSAGE)}…` : line;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
