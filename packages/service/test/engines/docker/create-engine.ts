import { dockerConfigSchema } from '../../../src/engines/docker/docker-config.ts';
import { createDockerEngine } from '../../../src/engines/docker/docker-engine.ts';
import type { Engine } from '../../../src/engines/engine.ts';

/** On the daemon that `.ci/start-docker.sh` has started. */
export default function create(): Engine {
  const socketPath = process.env.SLUICE_TEST_DOCKER_SOCKET;
  return createDockerEngine(dockerConfigSchema.parse({ socketPath, pollMs: 500 }), 'here');
}
