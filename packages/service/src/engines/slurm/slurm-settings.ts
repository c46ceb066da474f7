import type { SlurmCommands } from './slurm-commands.ts';

/** What the engine needs to know of the cluster's own configuration. */
export interface SlurmSettings {
  /** Whether jobs are held to the memory that they request; undefined if Slurm does not tell. */
  readonly limitsMemory: boolean | undefined;
  /** Path on the nodes of Munge's socket, if it is not the default one below /run. */
  readonly mungeSocket: string | undefined;
}

/** Asks Slurm's controller. Rejects if `scontrol` is not installed or does not answer. */
export async function readSlurmSettings(slurm: SlurmCommands): Promise<SlurmSettings> {
  return parseSlurmSettings(await slurm.run('scontrol', ['show', 'config']));
}

/** Parses the output of `scontrol show config`, which contains the settings of `cgroup.conf` if Slurm uses cgroups. */
export function parseSlurmSettings(text: string): SlurmSettings {
  const settings = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [, name, value] = /^(\w+)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (name !== undefined && value !== undefined) settings.set(name, value);
  }
  const mungeSocket = /(?:^|,)socket=([^,]+)/.exec(settings.get('AuthInfo') ?? '')?.[1];
  return { limitsMemory: findMemoryLimit(settings), mungeSocket };
}

function findMemoryLimit(settings: ReadonlyMap<string, string>): boolean | undefined {
  const plugins = settings.get('TaskPlugin');
  if (plugins === undefined) return undefined;
  const accounts = !/^(jobacct_gather\/none|\(null\))?$/.test(settings.get('JobAcctGatherType') ?? '');
  if (accounts && /OverMemoryKill/i.test(settings.get('JobAcctGatherParams') ?? '')) return true;
  if (!plugins.split(',').includes('task/cgroup')) return false;
  const isConfined = settings.get('ConstrainRAMSpace');
  return isConfined === undefined ? undefined : /^yes/i.test(isConfined);
}
