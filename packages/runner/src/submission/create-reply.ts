import { isServiceError, type ServiceError } from '@sluice/client';

/** HTTP status of a service whose disk is full. */
export const NO_SPACE = 507;

/** What a failed create request means. */
export type CreateFailure =
  /** The service has not received the request. */
  | { readonly kind: 'notSent'; readonly error: ServiceError }
  /**
   * The service may have created the container: request the same ID. `full`: it reported that it has no capacity at
   * present. `rejects`: the container itself was rejected, by the service because the ID is in use, or by what may be a
   * gateway in front of it.
   */
  | { readonly kind: 'doubt'; readonly error: ServiceError; readonly full: boolean; readonly rejects: boolean }
  /** The service has no space to record the container, and reports it by status 507. */
  | { readonly kind: 'noSpace'; readonly error: ServiceError }
  /**
   * The service rejects the container in the protocol's own form: final, unless an earlier POST of the same ID is in
   * doubt.
   */
  | { readonly kind: 'rejected'; readonly error: ServiceError }
  /** The volume that it mounts is not usable yet. */
  | { readonly kind: 'notYet'; readonly error: ServiceError }
  /** The request failed even after a new login. */
  | { readonly kind: 'auth'; readonly error: ServiceError };

/** Classifies what `containers.create` threw. Anything but a `ServiceError` is a bug and is rethrown. */
export function classifyCreateFailure(error: unknown): CreateFailure {
  if (!isServiceError(error)) throw error;
  if (error.status === NO_SPACE && !error.isForeign) return { kind: 'noSpace', error };
  switch (error.code) {
    case 'UNREACHABLE':
      return { kind: 'notSent', error };
    case 'UNAUTHENTICATED':
      return { kind: 'auth', error };
    case 'FAILED_PRECONDITION':
      return { kind: 'notYet', error };
    case 'PERMISSION_DENIED':
    case 'NOT_FOUND':
    case 'INVALID_ARGUMENT':
      return error.isForeign ? { kind: 'doubt', error, full: false, rejects: true } : { kind: 'rejected', error };
    case 'RESOURCE_EXHAUSTED':
      return { kind: 'doubt', error, full: true, rejects: false };
    case 'ALREADY_EXISTS':
      return { kind: 'doubt', error, full: false, rejects: true };
    case 'NO_REPLY':
    case 'INVALID_REPLY':
    case 'ABORTED':
    case 'UNAVAILABLE':
      return { kind: 'doubt', error, full: false, rejects: false };
  }
}
