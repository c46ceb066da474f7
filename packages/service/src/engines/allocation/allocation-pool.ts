import { randomUUID } from 'node:crypto';
import type { StorageAccess } from '../../storage/storage-access.ts';
import type { End, EngineSink, Launch, Observation } from '../engine.ts';
import type { SlurmJobs } from '../slurm/slurm-engine.ts';
import type { NodePlace } from '../slurm/slurm-nodes.ts';
import type { AgentSettings } from './agent-settings.ts';
import type { Allocation } from './allocation.ts';
import type { AllocationDirectory, Outcomes } from './allocation-directory.ts';
import { createContainer, type Group, type PooledAllocation, type PooledContainer } from './allocation-group.ts';
import type { AllocationNode } from './allocation-node.ts';
import { type AllocationRules, planAllocations } from './plan-allocations.ts';
import { PooledContainers } from './pooled-containers.ts';
import { describeEnd, settleContainers } from './settle-container.ts';
import { type AgentObservation, type Order, orderLaunch, type Report } from './spool-lines.ts';
import { TickLoop } from './tick-loop.ts';
import { tryLaunch } from './try-launch.ts';

const POLL_MS = { busy: 50, idle: 1000 };
/** The job of an agent that reports nothing for so long is ended, and with it its containers. */
const SILENT_MS = 120_000;

/** What the pool works with. */
export interface AllocationPoolOptions {
  readonly rules: AllocationRules;
  /** Of an allocation that is made now. */
  readonly settings: () => Omit<AgentSettings, 'maskedPaths'>;
  readonly clusterID: string;
  /** The engine of the allocations' jobs. Its observations of them are passed to `observe`. */
  readonly jobs: SlurmJobs;
  readonly directory: AllocationDirectory;
  readonly storage: StorageAccess;
}

/** A node, and the group of its allocation. */
type PooledNode = Pick<PooledAllocation, 'group'> & { readonly node: AllocationNode };

/** Runs containers in allocations: assigns them, submits allocations while containers wait, and ends those without work. */
export class AllocationPool {
  readonly #options: AllocationPoolOptions;
  readonly #containers: PooledContainers;
  /** Those that have not ended. */
  readonly #allocations = new Map<string, PooledAllocation>();
  /** Of those that have ended. */
  readonly #outcomes = new Map<string, Outcomes>();
  readonly #loop = new TickLoop(async () => {
    await this.#tick();
    return this.#isBusy() ? POLL_MS.busy : POLL_MS.idle;
  });

  constructor(options: AllocationPoolOptions) {
    this.#options = options;
    this.#containers = new PooledContainers(options);
  }

  /** Continues with the allocations of an earlier service. `jobs` must be open. */
  async open(sink: EngineSink): Promise<void> {
    const { directory, jobs, storage } = this.#options;
    const { live, over } = await storage.inThread(() => directory.load());
    for (const { allocation, record, orders } of live) {
      const loaded = { allocation, group: this.#containers.groupOf(record) };
      allocation.submission = 'done';
      this.#allocations.set(allocation.key, loaded);
      allocation.nodes.forEach((node, number) => {
        for (const order of orders[number] ?? []) this.#repeatOrder(order, { ...loaded, node });
      });
      await this.#read(loaded);
    }
    this.#containers.forgetWaiting();
    for (const [key, outcomes] of over) this.#outcomes.set(key, outcomes);
    this.#containers.sink = sink;
    await jobs.recover(live.map(({ allocation }) => allocation.launch));
    this.#loop.soon(POLL_MS.idle);
  }

  async close(): Promise<void> {
    await this.#loop.close();
  }

  readonly has = (key: string): boolean => this.#containers.byKey.has(key);
  readonly isAllocation = (key: string): boolean => this.#allocations.has(key);

  /** Adds a container that waits for an allocation. */
  add(launch: Launch, needMs: number | undefined): void {
    // Where all allocations are there already, each has the GPUs of its node.
    const hasGpus = launch.limits.gpus > 0 && !this.#options.rules.usesAll;
    const group = this.#containers.groupOf({ ...launch, hasGpus });
    const container = createContainer({ launch, needMs, group });
    this.#containers.byKey.set(launch.key, container);
    group.waiting.set(launch.key, container);
    this.#containers.sink?.report(launch.key, { type: 'pending', reason: group.reason });
    this.#loop.soon(POLL_MS.busy);
  }

  /** Reports the state of a container again; false if it is unknown here. */
  repeat(launch: Launch): boolean {
    const container = this.#containers.byKey.get(launch.key);
    if (container === undefined) {
      const ended = [...this.#outcomes.values()].find((outcomes) => outcomes.has(launch.key))?.get(launch.key);
      if (ended !== undefined) this.#containers.sink?.report(launch.key, ended);
      return ended !== undefined;
    }
    container.launch = launch;
    if (container.running === undefined && container.ended === undefined)
      this.#containers.sink?.report(launch.key, { type: 'pending', reason: container.group.reason });
    this.#containers.reportRunning(container);
    if (container.ended !== undefined) this.#containers.sink?.report(launch.key, container.ended);
    return true;
  }

  async stop(key: string, { graceMs }: { graceMs: number }): Promise<void> {
    const container = this.#containers.byKey.get(key);
    if (container === undefined || container.ended !== undefined) return;
    const { node, moving } = container;
    container.isStopped = true;
    if (moving !== undefined) return await this.#containers.stopJob(container, { graceMs });
    if (node === undefined) return await this.#containers.endWaiting(container);
    node.order({ type: 'stop', key, graceMs });
    await this.#send([node]);
  }

  /** Forgets a container that has ended. */
  async remove(key: string): Promise<void> {
    const container = this.#containers.byKey.get(key);
    if (container !== undefined && container.ended === undefined) return;
    this.#containers.byKey.delete(key);
    for (const { allocation } of this.#allocations.values())
      for (const node of allocation.nodes) node.outcomes.delete(key);
    for (const [allocation, outcomes] of this.#outcomes) {
      if (outcomes.delete(key) && outcomes.size === 0) await this.#discard(allocation);
    }
  }

  /** Takes an observation of an allocation's job. */
  observe(key: string, observation: Observation): void {
    const found = this.#allocations.get(key);
    if (found === undefined) return;
    const { allocation, group } = found;
    switch (observation.type) {
      case 'pending':
        if (group.failures === 0) this.#containers.explain(group, `waits for an allocation, ${observation.reason}`);
        return;
      case 'running':
        if (allocation.nodes.length === 1) this.#locate(allocation, [observation]);
        else allocation.nodeNames = observation.nodeID;
        return;
      case 'ended':
        allocation.end = observation.end;
        return;
      case 'absent':
        allocation.end = { kind: 'fault', reason: 'it was never submitted' };
    }
  }

  async #tick(): Promise<void> {
    for (const pooled of [...this.#allocations.values()]) {
      if (this.#loop.isClosed) return;
      // A storage or a controller that does not answer now is asked again.
      await this.#follow(pooled).catch(() => undefined);
    }
    for (const group of this.#containers.groups) if (!this.#loop.isClosed) await this.#plan(group);
  }

  async #follow(pooled: PooledAllocation): Promise<void> {
    const { jobs } = this.#options;
    const { allocation, group } = pooled;
    const { end } = allocation;
    if (allocation.submission === 'needed' && performance.now() >= group.retryAt) void this.#submit(pooled);
    await this.#read(pooled);
    if (end !== undefined) return await this.#settle(pooled, end);
    const unknown = allocation.namesToFind();
    if (unknown !== undefined) this.#locate(allocation, await jobs.findNodes(unknown));
    await this.#send(allocation.nodes);
    const now = performance.now();
    const silent = allocation.nodes.filter((one) => one.capacity !== undefined && now - one.reportedAt >= SILENT_MS);
    if (silent.length === 0) return;
    for (const node of silent) node.reportedAt = now;
    await jobs.stop(allocation.key, { graceMs: 0 });
  }

  #locate(allocation: Allocation, places: readonly (NodePlace | undefined)[]): void {
    allocation.locate(places);
    for (const key of allocation.assignedKeys) {
      const container = this.#containers.byKey.get(key);
      if (container !== undefined) this.#containers.reportRunning(container);
    }
  }

  /** All reports so far. */
  async #read(pooled: PooledAllocation): Promise<void> {
    for (const node of pooled.allocation.nodes) {
      const read = () => this.#options.storage.inThread(() => node.readReports());
      for (let reports = await read(); reports.length > 0; reports = await read())
        for (const report of reports) this.#take(report, { ...pooled, node });
    }
  }

  #repeatOrder(order: Order, { node, group }: PooledNode): void {
    if (order.type === 'end') node.leaving = 'the service has ended it';
    else if (order.type === 'stop') {
      const container = this.#containers.byKey.get(order.key);
      if (container?.node === node) container.isStopped = true;
    } else {
      const container = createContainer({ ...order, needMs: order.needMs, group });
      container.node = node;
      this.#containers.byKey.set(order.launch.key, container);
      node.assign(order.launch);
    }
  }

  #take(report: Report, { node, group }: PooledNode): void {
    if (report.type === 'ready') group.failures = 0;
    if (report.type === 'leaving' && node.capacity === undefined) this.#containers.fail(group, report.reason);
    if (report.type !== 'seen' && report.type !== 'returned') return;
    const container = this.#containers.byKey.get(report.key);
    if (container === undefined || container.node !== node) return;
    if (report.type === 'returned') {
      node.release(report.key);
      container.refusedBy.add(node.key);
      this.#containers.wait(container, `waits for another allocation: ${report.reason}`);
    } else this.#takeObservation(container, report.observation);
  }

  #takeObservation(container: PooledContainer, observation: AgentObservation): void {
    const { launch, node } = container;
    if (observation.type === 'exiting') this.#containers.sink?.report(launch.key, observation);
    if (observation.type === 'running') {
      container.running = observation;
      this.#containers.reportRunning(container);
    }
    if (observation.type === 'ended') {
      node?.release(launch.key, observation);
      this.#containers.end(container, observation);
    }
  }

  /** Slurm has confirmed the end of the job: what its agents have not reported is decided from the records. */
  async #settle({ allocation, group }: PooledAllocation, end: End): Promise<void> {
    const { directory, jobs, storage } = this.#options;
    const { nodes } = allocation;
    const open = allocation.assignedKeys.flatMap((key) => this.#containers.byKey.get(key) ?? []);
    const { settled, outcomes } = await storage.inThread(async () => {
      const found = await settleContainers(open, end);
      const all = new Map([...allocation.outcomes(), ...found]);
      await directory.keepOutcomes(allocation.key, all);
      return { settled: found, outcomes: all };
    });
    this.#allocations.delete(allocation.key);
    if (outcomes.size > 0) this.#outcomes.set(allocation.key, outcomes);
    else await this.#discard(allocation.key);
    if (nodes.every(({ capacity, leaving }) => capacity === undefined && leaving === undefined))
      this.#containers.fail(group, describeEnd(end));
    for (const container of open) {
      const ended = settled.get(container.launch.key);
      if (ended === undefined) this.#containers.wait(container);
      else this.#containers.end(container, ended);
    }
    await jobs.remove(allocation.key);
  }

  async #plan(group: Group): Promise<void> {
    const { rules, jobs } = this.#options;
    const now = performance.now();
    const most = Math.min(rules.max, jobs.mostAllocations ?? rules.max);
    const open = [...this.#allocations.values()].filter((one) => one.group === group).map((one) => one.allocation);
    const ready = [...group.waiting.values()].filter(({ notBefore }) => notBefore <= now);
    for (const one of ready) await this.#containers.endIfStopped(one);
    for (const one of ready) if (one.moving !== undefined) this.#containers.moveToJobs(one);
    const waiting = ready.filter((one) => !one.isStopped && one.moving === undefined);
    const nodes = open.flatMap((one) => one.describe());
    const taking = new Set(nodes.map(({ allocation }) => allocation));
    const plan = planAllocations(
      waiting.map(({ launch, ...one }) => ({ ...one, key: launch.key, needs: launch.limits })),
      nodes,
      { ...rules, max: most - (open.length - taking.size), remain: most },
    );
    for (const key of plan.tooBig) this.#containers.moveToJobs(group.waiting.get(key));
    const byKey = new Map(open.flatMap((one) => one.nodes.map((node) => [node.key, node])));
    for (const { key, to } of plan.assigned) await this.#assign(group.waiting.get(key), byKey.get(to)!);
    for (const key of plan.ended) this.#allocations.get(key)!.allocation.dismiss();
    for (const one of open) await this.#send(one.nodes).catch(() => undefined);
    if (performance.now() >= group.retryAt)
      for (let count = 0; count < plan.submit; count++)
        await this.#make(group).catch((error: Error) => this.#containers.fail(group, error.message));
  }

  /** The container may be stopped at any time while its files are prepared. */
  async #assign(container: PooledContainer | undefined, node: AllocationNode): Promise<void> {
    if (container === undefined) return;
    try {
      await this.#options.jobs.giveToUser(container.launch);
    } catch (error) {
      this.#containers.wait(container, `waits for its files: ${(error as Error).message}`);
      return;
    }
    if (container.isStopped || !container.group.waiting.delete(container.launch.key)) return;
    container.node = node;
    node.assign(container.launch);
    node.order(orderLaunch(container.launch, container.needMs));
  }

  async #make(group: Group): Promise<void> {
    const { clusterID, directory, jobs, settings, storage } = this.#options;
    const { accountID, options, hasGpus } = group;
    const maskedPaths = await jobs.findMaskedPaths();
    const record = { accountID, clusterID, options, hasGpus, settings: { ...settings(), maskedPaths } };
    const allocation = await storage.inThread(() => directory.make(`allocation-${randomUUID()}`, record));
    const pooled = { allocation, group };
    this.#allocations.set(allocation.key, pooled);
    this.#containers.explain(group, 'waits for an allocation, which is submitted to Slurm');
    void this.#submit(pooled);
  }

  /** The same allocation is submitted until Slurm has taken or rejected it: the reply of an earlier try may be lost. */
  async #submit({ allocation, group }: PooledAllocation): Promise<void> {
    allocation.submission = 'begun';
    const { jobs } = this.#options;
    const failure = await tryLaunch(async () => {
      const [, ...others] = allocation.nodes;
      for (const { directory } of others) await jobs.giveToUser({ ...allocation.launch, directory });
      await jobs.launchAgent(allocation.launch);
    });
    allocation.submission = failure?.later === undefined ? 'done' : 'needed';
    if (failure?.later !== undefined) this.#containers.fail(group, failure.later);
    else if (failure !== undefined) allocation.end = failure.end;
  }

  /** Throws if they cannot be written now: the next tick tries again. */
  async #send(nodes: readonly AllocationNode[]): Promise<void> {
    for (const node of nodes) await this.#options.storage.inThread(() => node.sendOrders());
  }

  async #discard(key: string): Promise<void> {
    const { directory, storage } = this.#options;
    this.#outcomes.delete(key);
    await storage.inThread(() => directory.remove(key));
  }

  #isBusy(): boolean {
    for (const { allocation } of this.#allocations.values())
      if (allocation.nodes.some(({ assigned }) => assigned.size > 0)) return true;
    return this.#containers.groups.some(({ waiting }) => waiting.size > 0);
  }
}
