import type { MountsBy } from './launcher.ts';
import { openLauncher } from './open-launcher.ts';
import type { ProcessConfig } from './process-config.ts';

/** What the process engine can do on this machine, for `sluice doctor`. */
export type ProcessProbe =
  | {
      readonly works: true;
      readonly launcher: 'native' | 'shell';
      readonly mountsBy: MountsBy;
      /** `cgroup1` and `cgroup2` limit a container as a whole, `rlimit` each of its processes. */
      readonly memory: string;
      /** `affinity`: the container may use only so many processors. `none`: no limit but the service's own count. */
      readonly cores: string;
    }
  | { readonly works: false; readonly reason: string };

/** Starts a launcher and ends it again; no container is started. */
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
