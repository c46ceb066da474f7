import type { Observation } from '../engine.ts';
import type { SlurmCommands } from './slurm-commands.ts';

/** Options of `srun` for a step beside those of the user, with all that the job has on its nodes. */
export const ALL_OF_NODE = ['--overlap', '--mem=0', '--cpu-bind=none', '--mpi=none'] as const;

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

/** Where a node is. */
export type NodePlace = Pick<Observation & { type: 'running' }, 'nodeID' | 'host'>;

/** What Slurm writes for the nodes of a job, for example `n[1-3,7]`. */
const LIST = /^[A-Za-z0-9_][\w.,[\]-]{0,8191}$/;

/** The nodes that Slurm writes as `list`, in its order; undefined for one that it does not know. Throws if Slurm does not answer. */
export async function findNodes(
  list: string,
  { slurm, addressOf }: { readonly slurm: SlurmCommands; readonly addressOf: NodeAddresses },
): Promise<(NodePlace | undefined)[]> {
  if (!LIST.test(list)) return [];
  const names = /[,[]/.test(list)
    ? (await slurm.run('scontrol', ['show', 'hostnames', list])).trim().split('\n')
    : [list];
  const places: (NodePlace | undefined)[] = [];
  for (const nodeID of names) {
    const host = await addressOf(nodeID);
    places.push(host === undefined ? undefined : { nodeID, host });
  }
  return places;
}
