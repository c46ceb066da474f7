import type { End, Launch } from '../engine.ts';
import { tasksOf } from '../tasks-of.ts';
import type { AgentSettings } from './agent-settings.ts';
import { AllocationNode } from './allocation-node.ts';
import { nodeDirectories } from './node-directories.ts';
import type { OpenNode } from './plan-allocations.ts';
import type { EndedObservation } from './spool-lines.ts';

/** An allocation as the service sees it: one job, with an agent on each of its nodes. */
export class Allocation {
  /** The launch of its job. */
  readonly launch: Launch;
  /** In Slurm's order. */
  readonly nodes: readonly AllocationNode[];
  /** Of its job. */
  submission: 'needed' | 'begun' | 'done' = 'needed';
  /** What Slurm calls its nodes, once it runs. */
  nodeNames: string | undefined;
  /** How its job has ended. */
  end: End | undefined;

  constructor(launch: Launch, settings: Pick<AgentSettings, 'timeLimitMs' | 'graceMs'>) {
    const { key, directory } = launch;
    this.launch = launch;
    this.nodes = nodeDirectories(directory, tasksOf(launch).nodes).map(
      (place, number) => new AllocationNode({ key: `${key}.${number}`, directory: place }, settings),
    );
  }

  get key(): string {
    return this.launch.key;
  }

  /** Its nodes that take containers, as they are for the plan. */
  describe(): OpenNode[] {
    if (this.end !== undefined) return [];
    const open = this.nodes.filter(({ leaving }) => leaving === undefined);
    return open.map((node) => ({ ...node.describe(), allocation: this.key }));
  }

  /** How its containers have ended, until they are removed. */
  outcomes(): Map<string, EndedObservation> {
    return new Map(this.nodes.flatMap(({ outcomes }) => [...outcomes]));
  }

  /** Ends it when its containers have ended. */
  dismiss(): void {
    for (const node of this.nodes) node.dismiss();
  }
}
