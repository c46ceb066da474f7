import { own } from '@sluice/client';
import { systemErrorCode } from '@sluice/host-system';
import { ClientGone } from '../../protocol/send-block.ts';
import { StorageSilent } from '../../storage/storage-access.ts';
import { VolumeQuotaExceeded } from '../storage-space.ts';

/**
 * Thrown by a handler to send `status` as the response; `condition` is the DAV: precondition element of the body, as XML.
 */
export class DavError extends Error {
  override readonly name = 'DavError';
  readonly status: number;
  readonly condition: string | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    message: string,
    options: { condition?: string; headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(message);
    this.status = status;
    this.condition = options.condition;
    this.headers = options.headers ?? {};
  }
}

const STATUS: Readonly<Record<string, number>> = {
  ENOENT: 404,
  ENOTDIR: 409,
  EISDIR: 405,
  EEXIST: 405,
  ENOTEMPTY: 409,
  EINVAL: 403,
  ELOOP: 403,
  EACCES: 403,
  EPERM: 403,
  EROFS: 403,
  EBUSY: 403,
  ENAMETOOLONG: 414,
  ENOSPC: 507,
  EDQUOT: 507,
};

/** The response while the files of a volume cannot be used: not 404, from which the client would conclude that they were deleted. */
export function unavailable(fault: string): DavError {
  return new DavError(503, `the volume is not available: ${fault}`, { headers: { 'retry-after': '5' } });
}

/** The response for a failure; undefined for an unexpected error. */
export function rejectionOf(error: unknown): DavError | undefined {
  if (error instanceof DavError) return error;
  if (error instanceof ClientGone) return new DavError(400, error.message);
  if (error instanceof StorageSilent) return unavailable(error.message);
  // The precondition of RFC 4331.
  if (error instanceof VolumeQuotaExceeded) {
    return new DavError(507, error.message, { condition: '<D:quota-not-exceeded/>' });
  }
  const code = systemErrorCode(error);
  const status = code === undefined ? undefined : own(STATUS, code);
  return status === undefined ? undefined : new DavError(status, `the file system reported ${code}`);
}
