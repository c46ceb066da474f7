import type { SlurmCommands } from './slurm-commands.ts';

/**
 * Where a node is reached from other machines, by Slurm's own word: a job may say what it likes. All nodes are asked for
 * when one is named that was not known; undefined for one that Slurm does not know either.
 */
export function createSlurmNodes(slurm: SlurmCommands): (node: string) => Promise<string | undefined> {
  let addresses = new Map<string, string>();
  return async (node) => {
    if (!addresses.has(node)) {
      const lines = (await slurm.run('sinfo', ['--Node', '--all', '--noheader', '--format=%N|%o'])).trim().split('\n');
      addresses = new Map(lines.map((line) => line.split('|') as [string, string]));
    }
    return addresses.get(node);
  };
}
