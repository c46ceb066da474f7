import { type ContainerService, ServiceError } from '@sluice/client';

/**
 * The same service, which creates no container: `onRefused` is called for each that it refuses, and the run postpones the
 * attempt.
 */
export function refuseCreation(service: ContainerService, onRefused: () => void): ContainerService {
  const { containers } = service;
  return {
    ...service,
    containers: {
      get: (...given) => containers.get(...given),
      list: (...given) => containers.list(...given),
      logs: (...given) => containers.logs(...given),
      async create() {
        onRefused();
        throw new ServiceError('RESOURCE_EXHAUSTED', 'the run waits until other runs of the account have ended');
      },
      cancel: (...given) => containers.cancel(...given),
      delete: (...given) => containers.delete(...given),
    },
  };
}
