import { type ContainerService, ServiceError } from '@sluice/client';

/**
 * The same service, which creates no container: `onRefused` is called for each that it refuses, and the run postpones the
 * attempt.
 */
export function refuseCreation(service: ContainerService, onRefused: () => void): ContainerService {
  return {
    ...service,
    containers: {
      ...service.containers,
      async create() {
        onRefused();
        throw new ServiceError('RESOURCE_EXHAUSTED', 'the run waits until other runs of the account have ended');
      },
    },
  };
}
