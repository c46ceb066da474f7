import { own } from '@sluice/client';
import { systemErrorCode } from '@sluice/host-system';
import { VolumeQuotaExceeded } from '../storage-space.ts';
import { MalformedPacket, STATUS } from './sftp-packet.ts';

/** Thrown by a handler to send a status as the response. The message is shown to the client. */
export class SftpFailure extends Error {
  override readonly name = 'SftpFailure';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const CODES: Readonly<Record<string, number>> = {
  ENOENT: STATUS.NO_SUCH_FILE,
  ENOTDIR: STATUS.NO_SUCH_FILE,
  EACCES: STATUS.PERMISSION_DENIED,
  EPERM: STATUS.PERMISSION_DENIED,
  EROFS: STATUS.PERMISSION_DENIED,
  ELOOP: STATUS.PERMISSION_DENIED,
};

/**
 * The status that a client receives for an error; undefined for an unexpected error, caused neither by the client nor by the
 * file system.
 */
export function statusOf(error: unknown): { code: number; message: string } | undefined {
  if (error instanceof SftpFailure) return { code: error.status, message: error.message };
  if (error instanceof VolumeQuotaExceeded) return { code: STATUS.FAILURE, message: error.message };
  if (error instanceof MalformedPacket) return { code: STATUS.BAD_MESSAGE, message: error.message };
  const code = systemErrorCode(error);
  return code === undefined ? undefined : { code: own(CODES, code) ?? STATUS.FAILURE, message: code };
}
