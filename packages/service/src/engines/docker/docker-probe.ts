import type { EngineProbe } from '../engine-probe.ts';
import { connectDocker } from './docker-api.ts';
import { dockerConfigSchema } from './docker-config.ts';

/** Checks for `sluice doctor` whether the daemon responds; starts no container. */
export async function probeDocker(): Promise<EngineProbe> {
  const { socketPath } = dockerConfigSchema.parse({});
  try {
    const api = await connectDocker(socketPath);
    await api.close();
    return { engine: 'docker', works: true, found: `${api.isPodman ? 'Podman' : 'Docker Engine'} on ${socketPath}` };
  } catch {
    const advice =
      'install Docker Engine (Debian: docker.io) or start `podman system service`; DOCKER_HOST names its socket';
    return { engine: 'docker', works: false, found: `nothing answers on ${socketPath}`, advice };
  }
}
