import type { End, Launch } from '../engine.ts';
import type { NodePlace } from '../slurm/slurm-nodes.ts';
import { tasksOf } from '../tasks-of.ts';
import type { AgentSettings } from './agent-settings.ts';
import { AllocationNode } from './allocation-node.ts';
import { nodeDirectories } from './node-directories.ts';
import type { OpenNode } from './plan-allocations.ts';
import type { EndedObservation } from './spool-lines.ts';

/** Slurm is not asked more often where nodes are. */
const ASK_MS = 1000;

/** An allocation as the service sees it: one job, with an agent on each of its nodes. */
export class Allocation {
  /** The launch of its job. */
  readonly launch: Launch;
  /** In Slurm's order. */
  readonly nodes: readonly AllocationNode[];
  /** Of its job. */
  submission: 'needed' | 'begun' | 'done' = 'needed';
  /** What Slurm calls all of several nodes, once it runs. */
  nodeNames: string | undefined;
  /** How its job has ended. */
  end: End | undefined;
  /** When it was last asked where its nodes are, by a monotonic clock. */
  #askedAt = Number.NEGATIVE_INFINITY;

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

  /** Of the containers that were ordered. */
  get assignedKeys(): string[] {
    return this.nodes.flatMap(({ assigned }) => [...assigned.keys()]);
  }

  /** What Slurm calls its nodes, if it is to be asked now where they are. */
  namesToFind(): string | undefined {
    const now = performance.now();
    if (now - this.#askedAt < ASK_MS || this.nodes.every(({ place }) => place !== undefined)) return undefined;
    if (this.nodeNames !== undefined) this.#askedAt = now;
    return this.nodeNames;
  }

  /** `places`: of its nodes; undefined for one that Slurm does not know. */
  locate(places: readonly (NodePlace | undefined)[]): void {
    for (const [number, node] of this.nodes.entries()) {
      const place = places[number];
      node.place = place && { nodeID: place.nodeID, host: place.host };
    }
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
