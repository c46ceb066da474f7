import { type ContainerService, type Containers, isServiceError } from '@sluice/client';
import type { Clock } from '@sluice/home';

/** Who is notified of rejected logins. */
export interface LoginWatch {
  readonly clock: Clock;
  /** The service has started to reject the login. */
  readonly onRejected: (message: string) => void;
  /** It has rejected the login for so long that only a person can help. */
  readonly onLost: (message: string) => void;
}

/** How long the service itself is assumed to be at fault: an expired login stays expired. */
const LOST_AFTER_MS = 60_000;
const LOST_AFTER_CALLS = 3;

/**
 * Wraps the service to observe whether its calls for containers pass the login. A client with credentials logs in again
 * by itself; the remaining cases are expired tokens and passwords.
 */
export function watchLogin(service: ContainerService, { clock, onRejected, onLost }: LoginWatch): ContainerService {
  let rejected: { readonly since: number; calls: number } | undefined;

  function noteReply(error?: unknown): void {
    if (!isServiceError(error, 'UNAUTHENTICATED')) {
      // A call without a reply says nothing about the login.
      if (error === undefined || (isServiceError(error) && error.status !== undefined)) rejected = undefined;
      return;
    }
    if (!rejected) onRejected(error.message);
    rejected ??= { since: clock.now(), calls: 0 };
    rejected.calls++;
    if (rejected.calls >= LOST_AFTER_CALLS && clock.now() - rejected.since >= LOST_AFTER_MS) onLost(error.message);
  }

  async function watched<T>(call: Promise<T>): Promise<T> {
    try {
      const result = await call;
      noteReply();
      return result;
    } catch (error) {
      noteReply(error);
      throw error;
    }
  }

  async function* stream<T>(items: AsyncIterable<T>): AsyncIterable<T> {
    try {
      yield* items;
      noteReply();
    } catch (error) {
      noteReply(error);
      throw error;
    }
  }

  const { containers } = service;
  const guarded: Containers = {
    create: (...given) => watched(containers.create(...given)),
    get: (...given) => watched(containers.get(...given)),
    list: (...given) => stream(containers.list(...given)),
    logs: (...given) => stream(containers.logs(...given)),
    cancel: (...given) => watched(containers.cancel(...given)),
    delete: (...given) => watched(containers.delete(...given)),
  };
  return { ...service, containers: guarded };
}
