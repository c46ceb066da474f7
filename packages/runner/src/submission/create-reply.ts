import { isServiceError, type ServiceError } from '@sluice/client';

/** HTTP status of a service whose disk is full. */
export const NO_SPACE = 507;

/** What a failed create call means.  */
export type CreateFailure =
  /** The service saw nothing. */
  | { readonly kind: 'notSent'; readonly error: ServiceError }
  /**
   * The service may have acted: ask for the same ID. `full`: it said that it has no room at present. `refuses`: no is
   * said to the container itself, by the service because the ID is in use, or by what may be a gateway before it.
   */
  | { readonly kind: 'doubt'; readonly error: ServiceError; readonly full: boolean; readonly refuses: boolean }
  /** It has no space to record the container, and says so by status 507. */
  | { readonly kind: 'noSpace'; readonly error: ServiceError }
  /** The service says no in the protocol's own form: final, once no earlier POST of the same ID is in doubt. */
  | { readonly kind: 'refused'; readonly error: ServiceError }
  /** The volume that it mounts is not usable yet. */
  | { readonly kind: 'notYet'; readonly error: ServiceError }
  /** Even a fresh login did not help. */
  | { readonly kind: 'auth'; readonly error: ServiceError };

/** Sorts what `containers.create` threw; anything that is not a `ServiceError` is a bug and thrown on. */
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
      return error.isForeign ? { kind: 'doubt', error, full: false, refuses: true } : { kind: 'refused', error };
    case 'RESOURCE_EXHAUSTED':
      return { kind: 'doubt', error, full: true, refuses: false };
    case 'ALREADY_EXISTS':
      return { kind: 'doubt', error, full: false, refuses: true };
    case 'NO_REPLY':
    case 'INVALID_REPLY':
    case 'ABORTED':
    case 'UNAVAILABLE':
      return { kind: 'doubt', error, full: false, refuses: false };
  }
}
