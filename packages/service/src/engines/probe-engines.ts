import { connectDocker } from './docker/docker-api.ts';
import { dockerConfigSchema } from './docker/docker-config.ts';
import { probeProcess } from './process/process-probe.ts';
import { WITHOUT_NAMESPACES, WITHOUT_TRANSLATION } from './process/without-namespaces.ts';
import { createSlurmCommands } from './slurm/slurm-commands.ts';

const ALLOW_NAMESPACES = 'allow user namespaces (sysctl kernel.unprivileged_userns_clone=1), or use Docker Engine';

/** What one engine can do on this machine. */
export interface EngineProbe {
  readonly engine: string;
  readonly works: boolean;
  /** What was found, or why the engine cannot work. */
  readonly found: string;
  /** What to do where it does not work. */
  readonly advice?: string;
}

/** Looks for every engine on this machine; starts no container. For `sluice doctor`. */
export async function probeEngines(): Promise<EngineProbe[]> {
  return Promise.all([probeProcesses(), probeDocker(), probeSlurm()]);
}

async function probeProcesses(): Promise<EngineProbe> {
  const probe = await probeProcess();
  if (!probe.works) {
    return { engine: 'process', works: false, found: probe.reason, advice: ALLOW_NAMESPACES };
  }
  const found = `${probe.launcher} launcher, memory limited by ${probe.memory}, cores by ${probe.cores}`;
  if (probe.mountsBy !== 'namespaces') {
    const warning = probe.mountsBy === 'translation' ? WITHOUT_NAMESPACES : WITHOUT_TRANSLATION;
    return { engine: 'process', works: true, found: `${found}; ${warning}`, advice: ALLOW_NAMESPACES };
  }
  if (probe.launcher === 'native') return { engine: 'process', works: true, found };
  return { engine: 'process', works: true, found, advice: 'install a C compiler and build again for a faster start' };
}

async function probeDocker(): Promise<EngineProbe> {
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

async function probeSlurm(): Promise<EngineProbe> {
  try {
    const nodes = await createSlurmCommands(undefined).run('sinfo', ['--noheader', '--format=%D %t']);
    return { engine: 'slurm', works: true, found: `nodes: ${nodes.trim().replaceAll('\n', ', ')}` };
  } catch (error) {
    const advice = 'on a machine of a Slurm cluster, install its client programs and slurm.conf';
    return { engine: 'slurm', works: false, found: (error as Error).message.split('\n')[0] ?? '', advice };
  }
}
