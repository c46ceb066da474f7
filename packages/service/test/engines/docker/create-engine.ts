import { dockerConfigSchema } from '../../../src/engines/docker/docker-config.ts';
import { createDockerEngine } from '../../../src/engines/docker/docker-engine.ts';
import type { Engine } from '../../../src/engines/engine.ts';

/** On the daemon that `.ci/start-docker.sh` has started, or on another that answers on `socketPath`. */
export default function create(socketPath = process.env.SLUICE_TEST_DOCKER_SOCKET): Engine {
  return createDockerEngine(dockerConfigSchema.parse({ socketPath, pollMs: 500 }), { clusterID: 'here' });
}
