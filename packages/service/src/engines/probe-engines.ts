import { probeDocker } from './docker/docker-probe.ts';
import type { EngineProbe } from './engine-probe.ts';
import { probeProcess } from './process/process-probe.ts';
import { WITHOUT_NAMESPACES, WITHOUT_TRANSLATION } from './process/without-namespaces.ts';
import { probeSlurm } from './slurm/slurm-probe.ts';

const ALLOW_NAMESPACES = 'allow user namespaces (sysctl kernel.unprivileged_userns_clone=1), or use Docker Engine';

const GET_LAUNCHER =
  'for faster starts, reinstall the optional packages of sluice; in a checkout, install a C compiler and build again';

/** Checks every engine on this machine for `sluice doctor`; starts no container. */
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
  return { engine: 'process', works: true, found, advice: GET_LAUNCHER };
}
