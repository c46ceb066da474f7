import type { z } from 'zod';
import { dockerConfigSchema } from '../../../src/engines/docker/docker-config.ts';
import { createDockerEngine } from '../../../src/engines/docker/docker-engine.ts';
import type { Engine } from '../../../src/engines/engine.ts';

/** On the daemon that `.ci/start-docker.sh` has started, or on another that answers on `socketPath`. */
export default function create(socketPath = process.env.SLUICE_TEST_DOCKER_SOCKET): Engine {
  return createWith({ socketPath });
}

/** As where the build had no compiler: the daemon is all that there is. */
export function createWithoutFirstProcess(): Engine {
  return createWith({ socketPath: process.env.SLUICE_TEST_DOCKER_SOCKET }, '/no/first-process');
}

/** With more of the configuration. */
export function createWith(config: Partial<z.input<typeof dockerConfigSchema>>, firstProcessPath?: string): Engine {
  const full = dockerConfigSchema.parse({ pollInterval: '500ms', ...config });
  return createDockerEngine(full, { clusterID: 'here', ...(firstProcessPath ? { firstProcessPath } : {}) });
}
