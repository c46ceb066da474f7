import { isServiceError, own, ServiceError, type ServiceErrorCode } from '@sluice/client';
import { systemErrorCode } from '@sluice/host-system';
import { StorageSilent } from '../../storage/storage-access.ts';
import { VolumeQuotaExceeded } from '../storage-space.ts';

const CODES: Readonly<Record<string, ServiceErrorCode>> = {
  ENOENT: 'NOT_FOUND',
  ENOTDIR: 'INVALID_ARGUMENT',
  EISDIR: 'INVALID_ARGUMENT',
  EINVAL: 'INVALID_ARGUMENT',
  ELOOP: 'INVALID_ARGUMENT',
  ENAMETOOLONG: 'INVALID_ARGUMENT',
  EBUSY: 'INVALID_ARGUMENT',
  EEXIST: 'ALREADY_EXISTS',
  ENOTEMPTY: 'ALREADY_EXISTS',
  EACCES: 'PERMISSION_DENIED',
  EPERM: 'PERMISSION_DENIED',
  EROFS: 'PERMISSION_DENIED',
  ENOSPC: 'RESOURCE_EXHAUSTED',
  EDQUOT: 'RESOURCE_EXHAUSTED',
};

/** Converts an error into one for users, without host paths. `action` is a phrase such as `write 'a/b'`. */
export function fileFailure(action: string, error: unknown): ServiceError {
  if (isServiceError(error)) return error;
  const code = systemErrorCode(error) ?? '';
  const isExplained = error instanceof VolumeQuotaExceeded || error instanceof StorageSilent;
  const reason = isExplained ? error.message : reasonOf(code);
  return new ServiceError(own(CODES, code) ?? 'UNAVAILABLE', `could not ${action}: ${reason}`, {
    cause: error,
  });
}

function reasonOf(code: string): string {
  switch (code) {
    case 'ENOENT':
      return 'it does not exist';
    case 'ENOTDIR':
      return 'a file is in the place of a directory';
    case 'EISDIR':
      return 'it is a directory';
    case 'EEXIST':
    case 'ENOTEMPTY':
      return 'it already exists';
    case 'ELOOP':
      return 'a symlink on the path leaves the volume';
    case 'EBUSY':
      return 'it is the root of the volume';
    case 'ENOSPC':
    case 'EDQUOT':
      return 'the storage is full';
    default:
      return code === '' ? 'unexpected error' : `the file system reported ${code}`;
  }
}
