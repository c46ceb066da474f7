import type { JobRequest } from '@sluice/client';
import type { Launch } from './engine.ts';

/** How often the command of a container is started. */
export interface Tasks extends NonNullable<JobRequest['tasks']> {
  /** All together. */
  readonly count: number;
}

/** The tasks of a container; undefined if its command is started once. */
export function tasksOf({ job }: Pick<Launch, 'job'>): Tasks | undefined {
  const { nodes, perNode } = job?.tasks ?? { nodes: 1, perNode: 1 };
  return nodes * perNode > 1 ? { nodes, perNode, count: nodes * perNode } : undefined;
}

/** The variables that are the same for all tasks. `torch.distributed` reads those without our prefix. */
export function taskVariables({ nodes, perNode, count }: Tasks): Record<string, string> {
  return {
    SLUICE_NODES: String(nodes),
    SLUICE_TASKS_PER_NODE: String(perNode),
    WORLD_SIZE: String(count),
    LOCAL_WORLD_SIZE: String(perNode),
  };
}
