import { type ContainerService, isServiceError } from '@sluice/client';
import { NO_SPACE } from './create-reply.ts';

/**
 * The same service, whose calls that store something are watched: `onRejected` is called with the service's message when its
 * disk is full or has failed, and again only after it has stored something in between.
 */
export function watchStorage(service: ContainerService, onRejected: (message: string) => void): ContainerService {
  let isRejected = false;
  async function watched<T>(call: Promise<T>): Promise<T> {
    try {
      const result = await call;
      isRejected = false;
      return result;
    } catch (error) {
      if (isServiceError(error) && (error.status === NO_SPACE || error.reason === 'STORE_UNAVAILABLE')) {
        if (!isRejected) onRejected(error.message);
        isRejected = true;
      }
      throw error;
    }
  }
  const { containers, volumes } = service;
  return {
    ...service,
    containers: {
      ...containers,
      create: (...given) => watched(containers.create(...given)),
      cancel: (...given) => watched(containers.cancel(...given)),
      delete: (...given) => watched(containers.delete(...given)),
    },
    volumes: { ...volumes, create: (...given) => watched(volumes.create(...given)) },
  };
}
