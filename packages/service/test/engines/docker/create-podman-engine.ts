import type { Engine } from '../../../src/engines/engine.ts';
import createDocker from './create-engine.ts';

/** On the socket that `.ci/start-podman.sh` has started. */
export default function create(): Engine {
  return createDocker(process.env.SLUICE_TEST_PODMAN_SOCKET);
}
