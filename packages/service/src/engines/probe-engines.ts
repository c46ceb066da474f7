import { probeDocker } from './docker/docker-probe.ts';
import type { EngineProbe } from './engine-probe.ts';
import { type ProcessProbe, probeProcess } from './process/process-probe.ts';
import { WITHOUT_NAMESPACES, WITHOUT_TRANSLATION } from './process/without-namespaces.ts';
import { probeSlurm } from './slurm/slurm-probe.ts';

const ALLOW_NAMESPACES = 'allow user namespaces (sysctl kernel.unprivileged_userns_clone=1), or use Docker Engine';

const GET_LAUNCHER =
  'for faster starts, reinstall the optional packages of sluice; in a checkout, install a C compiler and build again';

/** Checks every engine on this machine for `sluice doctor`; starts no container. */
export async function probeEngines(): Promise<EngineProbe[]> {
  return Promise.all([probeProcess().then(describeProcesses), probeDocker(), probeSlurm()]);
}

/** What `sluice doctor` says of the process engine. */
export function describeProcesses(probe: ProcessProbe): EngineProbe {
  if (!probe.works) {
    return { engine: 'process', works: false, found: probe.reason, advice: ALLOW_NAMESPACES };
  }
  // A container with several processes can use several times the memory of its instance type.
  const memory = probe.memory === 'rlimit' ? 'rlimit (each process separately)' : probe.memory;
  const found = `${probe.launcher} launcher, memory limited by ${memory}, cores by ${probe.cores}`;
  if (probe.mountsBy !== 'namespaces') {
    const warning = probe.mountsBy === 'translation' ? WITHOUT_NAMESPACES : WITHOUT_TRANSLATION;
    return { engine: 'process', works: true, found: `${found}; ${warning}`, advice: ALLOW_NAMESPACES };
  }
  if (probe.launcher === 'native') return { engine: 'process', works: true, found };
  return { engine: 'process', works: true, found, advice: GET_LAUNCHER };
}
