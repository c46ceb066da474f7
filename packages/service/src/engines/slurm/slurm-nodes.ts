import type { SlurmCommands } from './slurm-commands.ts';

/** The address of a node according to Slurm, since a job's record is not trusted; undefined if Slurm does not know the node. */
export type NodeAddresses = (node: string) => Promise<string | undefined>;

/** All addresses are read again if a node is unknown. */
export function createNodeAddresses(slurm: SlurmCommands): NodeAddresses {
  let addresses = new Map<string, string>();
  return async (node) => {
    if (!addresses.has(node)) {
      const lines = (await slurm.run('sinfo', ['--Node', '--all', '--noheader', '--format=%N|%o'])).trim().split('\n');
      addresses = new Map(lines.map((line) => line.split('|') as [string, string]));
    }
    return addresses.get(node);
  };
}
