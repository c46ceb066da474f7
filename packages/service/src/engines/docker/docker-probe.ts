import type { EngineProbe } from '../engine-probe.ts';
import { connectDocker } from './docker-api.ts';
import { dockerConfigSchema } from './docker-config.ts';
import { readDockerInfo } from './docker-info.ts';

const UNLIMITED_MEMORY = 'containers are not held to the memory of their instance type';
const LIMIT_MEMORY =
  'enable the memory cgroup (kernel parameter cgroup_enable=memory) and restart; Podman without root also needs cgroup v2';

/** Checks for `sluice doctor` whether the daemon responds, and limits memory; starts no container. */
export async function probeDocker(): Promise<EngineProbe> {
  const { socketPath } = dockerConfigSchema.parse({});
  try {
    const api = await connectDocker(socketPath);
    const { MemoryLimit } = await readDockerInfo(api);
    await api.close();
    const found = `${api.isPodman ? 'Podman' : 'Docker Engine'} on ${socketPath}`;
    if (MemoryLimit !== false) return { engine: 'docker', works: true, found };
    return { engine: 'docker', works: true, found: `${found}; ${UNLIMITED_MEMORY}`, advice: LIMIT_MEMORY };
  } catch {
    const advice =
      'install Docker Engine (Debian: docker.io) or start `podman system service`; DOCKER_HOST names its socket';
    return { engine: 'docker', works: false, found: `nothing answers on ${socketPath}`, advice };
  }
}
