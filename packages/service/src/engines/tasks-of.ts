import { hash } from 'node:crypto';
import type { JobRequest } from '@sluice/client';
import type { Launch } from './engine.ts';

/** How often the command of a container is started. */
export interface Tasks extends NonNullable<JobRequest['tasks']> {
  /** All together. */
  readonly count: number;
}

/** The tasks of a container; one if it requests nothing else. */
export function tasksOf({ job }: { readonly job?: JobRequest | undefined }): Tasks {
  const { nodes, perNode } = job?.tasks ?? { nodes: 1, perNode: 1 };
  return { nodes, perNode, count: nodes * perNode };
}

/** The ports of a machine of which the tasks of a container get one to meet at. */
const MEETING_PORTS = { first: 20_000, count: 10_000 };

/** The port of a container. Nothing reserves it. */
export function meetingPort({ key }: Pick<Launch, 'key'>): string {
  return String(MEETING_PORTS.first + (hash('sha256', key, 'buffer').readUInt32BE() % MEETING_PORTS.count));
}

/** Where the tasks of a container are. */
interface Meeting {
  /** The address of the first node. */
  readonly first: string;
  readonly port: string;
  /** Of all nodes in their order, separated by commas. */
  readonly hosts: string;
}

/** The variables that are the same for all tasks. `torch.distributed` reads those without our prefix. */
export function taskVariables(
  { nodes, perNode, count }: Tasks,
  { first, port, hosts }: Meeting,
): Record<string, string> {
  return {
    SLUICE_NODES: String(nodes),
    SLUICE_TASKS_PER_NODE: String(perNode),
    SLUICE_HOSTS: hosts,
    WORLD_SIZE: String(count),
    LOCAL_WORLD_SIZE: String(perNode),
    MASTER_ADDR: first,
    MASTER_PORT: port,
  };
}

/**
 * Lines of a shell that write the host file of a task into `directory`, a word of the shell: the node of each task, in the order
 * of the ranks. This is what `mpirun --hostfile` and its relatives read.
 */
export function hostFileLines(directory: string): string {
  return `export SLUICE_HOSTFILE=${directory}/hosts-$RANK
for host in $(echo "$SLUICE_HOSTS" | tr , ' '); do
  i=0
  while [ $i -lt "$SLUICE_TASKS_PER_NODE" ]; do
    echo "$host"
    i=$((i + 1))
  done
done >"$SLUICE_HOSTFILE"
`;
}
