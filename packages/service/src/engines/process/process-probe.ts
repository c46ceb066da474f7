import type { MountsBy } from './launcher.ts';
import { openLauncher } from './open-launcher.ts';
import type { ProcessConfig } from './process-config.ts';

/** What the process engine can do on this machine, for `sluice doctor`. */
export type ProcessProbe =
  | {
      readonly works: true;
      readonly launcher: 'native' | 'shell';
      readonly mountsBy: MountsBy;
      /** `cgroup1` and `cgroup2` limit a container as a whole, `rlimit` limits each of its processes. */
      readonly memory: string;
      /** `affinity`: the container is restricted to as many processors. `none`: only the service counts cores. */
      readonly cores: string;
    }
  | { readonly works: false; readonly reason: string };

/** Starts a launcher and ends it again, without starting a container. */
export async function probeProcess(config: ProcessConfig = {}): Promise<ProcessProbe> {
  try {
    const launcher = await openLauncher(config, { event: () => {}, lost: () => {} });
    await launcher.close();
    const { kind, mountsBy, memory, cores } = launcher;
    return { works: true, launcher: kind, mountsBy, memory, cores };
  } catch (error) {
    return { works: false, reason: (error as Error).message };
  }
}
