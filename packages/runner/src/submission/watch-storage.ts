import { type ContainerService, isServiceError } from '@sluice/client';
import { NO_SPACE } from './create-reply.ts';

/**
 * The same service, whose calls that store something are watched: `onRefused` is called with the service's message when its
 * disk is full or has failed, and again only after it has stored something in between.
 */
export function watchStorage(service: ContainerService, onRefused: (message: string) => void): ContainerService {
  let isRefused = false;
  async function watched<T>(call: Promise<T>): Promise<T> {
    try {
      const result = await call;
      isRefused = false;
      return result;
    } catch (error) {
      if (isServiceError(error) && (error.status === NO_SPACE || error.reason === 'STORE_UNAVAILABLE')) {
        if (!isRefused) onRefused(error.message);
        isRefused = true;
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
