import { type ContainerService, ServiceError } from '@sluice/client';

/**
 * The same service, which creates no container: `onRejected` is called for each that it rejects, and the run postpones the
 * attempt.
 */
export function rejectCreation(service: ContainerService, onRejected: () => void): ContainerService {
  return {
    ...service,
    containers: {
      ...service.containers,
      async create() {
        onRejected();
        throw new ServiceError('RESOURCE_EXHAUSTED', 'the run waits until other runs of the account have ended');
      },
    },
  };
}
