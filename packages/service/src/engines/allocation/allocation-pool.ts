import { randomUUID } from 'node:crypto';
import type { StorageAccess } from '../../storage/storage-access.ts';
import type { End, EngineSink, Launch, Observation } from '../engine.ts';
import { claimAbsent } from '../process/process-records.ts';
import type { SlurmJobs } from '../slurm/slurm-engine.ts';
import type { AgentSettings } from './agent-settings.ts';
import type { Allocation } from './allocation.ts';
import type { AllocationDirectory, Outcomes } from './allocation-directory.ts';
import {
  createGroup,
  type Group,
  groupKey,
  noteFailure,
  type PooledAllocation,
  type PooledContainer,
} from './allocation-group.ts';
import { type AllocationRules, planAllocations } from './plan-allocations.ts';
import { describeEnd, settleContainers } from './settle-container.ts';
import { type AgentObservation, type EndedObservation, orderLaunch, type Report } from './spool-lines.ts';
import { submitAllocation } from './submit-allocation.ts';
import { TickLoop } from './tick-loop.ts';

const POLL_MS = { busy: 50, idle: 1000 };
/** The job of an agent that reports nothing for so long is ended, and with it its containers. */
const SILENT_MS = 120_000;
/** Pause before a container that came back is assigned again. */
const RETURNED_MS = 1000;

/** What the pool works with. */
export interface AllocationPoolOptions {
  readonly rules: AllocationRules;
  readonly settings: Omit<AgentSettings, 'maskedPaths'>;
  readonly clusterID: string;
  /** The engine of the allocations' jobs. Its observations of them are passed to `observe`. */
  readonly jobs: SlurmJobs;
  readonly directory: AllocationDirectory;
  readonly storage: StorageAccess;
  /** Takes a container that no allocation can hold. */
  readonly onTooBig: (launch: Launch) => void;
}

/** Runs containers in allocations: assigns them, submits allocations while containers wait, and ends those without work. */
export class AllocationPool {
  readonly #options: AllocationPoolOptions;
  readonly #containers = new Map<string, PooledContainer>();
  readonly #groups = new Map<string, Group>();
  /** Those that have not ended. */
  readonly #allocations = new Map<string, PooledAllocation>();
  /** Of those that have ended. */
  readonly #outcomes = new Map<string, Outcomes>();
  #sink: EngineSink | undefined;
  readonly #loop = new TickLoop(async () => {
    await this.#tick();
    return this.#isBusy() ? POLL_MS.busy : POLL_MS.idle;
  });

  constructor(options: AllocationPoolOptions) {
    this.#options = options;
  }

  /** Continues with the allocations of an earlier service. `jobs` must be open. */
  async open(sink: EngineSink): Promise<void> {
    const { directory, jobs, storage } = this.#options;
    const { live, over } = await storage.inThread(() => directory.load());
    for (const { allocation, record, containers } of live) {
      const group = this.#groupOf(record);
      allocation.submission = 'done';
      this.#allocations.set(allocation.key, { allocation, group });
      for (const [key, { order, ...known }] of containers) {
        const { launch, needMs } = order;
        const place = known.ended === undefined ? allocation : undefined;
        this.#containers.set(key, { ...known, launch, needMs, group, allocation: place, notBefore: 0 });
      }
    }
    for (const [key, outcomes] of over) this.#outcomes.set(key, outcomes);
    this.#sink = sink;
    await jobs.recover(live.map(({ allocation }) => allocation.launch));
    this.#loop.soon(POLL_MS.idle);
  }

  async close(): Promise<void> {
    await this.#loop.close();
  }

  readonly has = (key: string): boolean => this.#containers.has(key);
  readonly isAllocation = (key: string): boolean => this.#allocations.has(key);

  /** Adds a container that waits for an allocation. */
  add(launch: Launch, needMs: number | undefined): void {
    const group = this.#groupOf(launch);
    const container = { launch, needMs, group, allocation: undefined, isStopped: false, notBefore: 0 };
    this.#containers.set(launch.key, container);
    group.waiting.set(launch.key, container);
    this.#sink?.report(launch.key, { type: 'pending', reason: group.reason });
    this.#loop.soon(POLL_MS.busy);
  }

  /** Reports the state of a container again; false if it is unknown here. */
  repeat(launch: Launch): boolean {
    const container = this.#containers.get(launch.key);
    if (container === undefined) {
      const ended = [...this.#outcomes.values()].find((outcomes) => outcomes.has(launch.key))?.get(launch.key);
      if (ended !== undefined) this.#sink?.report(launch.key, ended);
      return ended !== undefined;
    }
    container.launch = launch;
    if (container.running === undefined && container.ended === undefined)
      this.#sink?.report(launch.key, { type: 'pending', reason: container.group.reason });
    this.#reportRunning(container);
    if (container.ended !== undefined) this.#sink?.report(launch.key, container.ended);
    return true;
  }

  async stop(key: string, { graceMs }: { graceMs: number }): Promise<void> {
    const container = this.#containers.get(key);
    if (container === undefined || container.ended !== undefined) return;
    const { allocation } = container;
    container.isStopped = true;
    if (allocation === undefined) return await this.#endWaiting(container);
    allocation.order({ type: 'stop', key, graceMs });
    await this.#send(allocation);
  }

  /** Forgets a container that has ended. */
  async remove(key: string): Promise<void> {
    const container = this.#containers.get(key);
    if (container !== undefined && container.ended === undefined) return;
    this.#containers.delete(key);
    for (const { allocation } of this.#allocations.values()) allocation.outcomes.delete(key);
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
        if (group.failures === 0) this.#explain(group, `waits for an allocation, ${observation.reason}`);
        return;
      case 'running':
        allocation.place = { nodeID: observation.nodeID, host: observation.host };
        for (const one of allocation.assigned.keys()) {
          const container = this.#containers.get(one);
          if (container !== undefined) this.#reportRunning(container);
        }
        return;
      case 'ended':
        allocation.end = observation.end;
        return;
      case 'absent':
        allocation.end = { kind: 'fault', reason: 'it was never submitted' };
    }
  }

  async #tick(): Promise<void> {
    for (const { allocation, group } of [...this.#allocations.values()]) {
      if (this.#loop.isClosed) return;
      // A storage or a controller that does not answer now is asked again.
      await this.#follow(allocation, group).catch(() => undefined);
    }
    for (const group of this.#groups.values()) if (!this.#loop.isClosed) await this.#plan(group);
  }

  async #follow(allocation: Allocation, group: Group): Promise<void> {
    const { jobs, storage } = this.#options;
    const { end } = allocation;
    if (allocation.submission === 'needed' && performance.now() >= group.retryAt) void this.#submit(allocation, group);
    for (let isRead = false; !isRead; ) {
      const reports = await storage.inThread(() => allocation.readReports());
      for (const report of reports) this.#take(report, { allocation, group });
      isRead = reports.length === 0;
    }
    if (end !== undefined) return await this.#settle(allocation, { group, end });
    await this.#send(allocation);
    if (allocation.capacity === undefined || performance.now() - allocation.reportedAt < SILENT_MS) return;
    allocation.reportedAt = performance.now();
    await jobs.stop(allocation.key, { graceMs: 0 });
  }

  #take(report: Report, { allocation, group }: PooledAllocation): void {
    if (report.type === 'ready') group.failures = 0;
    if (report.type === 'leaving' && allocation.capacity === undefined) this.#fail(group, report.reason);
    if (report.type !== 'seen' && report.type !== 'returned') return;
    const container = this.#containers.get(report.key);
    if (container === undefined || container.allocation !== allocation) return;
    if (report.type === 'returned') {
      allocation.release(report.key);
      container.notBefore = allocation.isOpen ? performance.now() + RETURNED_MS : 0;
      this.#wait(container);
    } else this.#takeObservation(container, report.observation);
  }

  #takeObservation(container: PooledContainer, observation: AgentObservation): void {
    const { launch, allocation } = container;
    if (observation.type === 'exiting') this.#sink?.report(launch.key, observation);
    if (observation.type === 'running') {
      container.running = observation;
      this.#reportRunning(container);
    }
    if (observation.type === 'ended') {
      allocation?.release(launch.key, observation);
      this.#end(container, observation);
    }
  }

  /** Slurm has confirmed the end of the job: what its agent has not reported is decided from the records. */
  async #settle(allocation: Allocation, { group, end }: { group: Group; end: End }): Promise<void> {
    const { directory, jobs, storage } = this.#options;
    const open = [...allocation.assigned.keys()].flatMap((key) => this.#containers.get(key) ?? []);
    const settled = await storage.inThread(async () => {
      const found = await settleContainers(open, end);
      await directory.keepOutcomes(allocation.key, new Map([...allocation.outcomes, ...found]));
      return found;
    });
    this.#allocations.delete(allocation.key);
    for (const [key, ended] of settled) allocation.release(key, ended);
    if (allocation.outcomes.size > 0) this.#outcomes.set(allocation.key, allocation.outcomes);
    else await this.#discard(allocation.key);
    if (allocation.capacity === undefined && allocation.leaving === undefined) this.#fail(group, describeEnd(end));
    for (const container of open) {
      const ended = settled.get(container.launch.key);
      if (ended === undefined) this.#wait(container);
      else this.#end(container, ended);
    }
    await jobs.remove(allocation.key);
  }

  async #plan(group: Group): Promise<void> {
    const { rules } = this.#options;
    const now = performance.now();
    const open = [...this.#allocations.values()].filter((one) => one.group === group).map((one) => one.allocation);
    const waiting = [...group.waiting.values()].filter(({ notBefore }) => notBefore <= now);
    const mayTake = open.filter(({ isOpen }) => isOpen);
    const plan = planAllocations(
      waiting.map(({ launch, needMs }) => ({ key: launch.key, needs: launch.limits, needMs })),
      mayTake.map((one) => one.describe()),
      { ...rules, max: rules.max - (open.length - mayTake.length) },
    );
    for (const key of plan.tooBig) this.#giveAway(key);
    const byKey = new Map(mayTake.map((one) => [one.key, one]));
    for (const { key, to } of plan.assigned) await this.#assign(key, byKey.get(to)!).catch(() => undefined);
    for (const key of plan.ended) byKey.get(key)!.dismiss();
    for (const allocation of mayTake) await this.#send(allocation).catch(() => undefined);
    if (performance.now() >= group.retryAt)
      for (let count = 0; count < plan.submit; count++)
        await this.#make(group).catch((error: Error) => this.#fail(group, error.message));
  }

  /** The container may be stopped at any time while its files are prepared. */
  async #assign(key: string, allocation: Allocation): Promise<void> {
    const container = this.#containers.get(key);
    if (container === undefined) return;
    await this.#options.jobs.giveToUser(container.launch);
    if (!container.group.waiting.delete(key)) return;
    container.allocation = allocation;
    allocation.assign(container.launch);
    allocation.order(orderLaunch(container.launch, container.needMs));
  }

  async #make(group: Group): Promise<void> {
    const { clusterID, directory, jobs, settings, storage } = this.#options;
    const { accountID, options } = group;
    const maskedPaths = await jobs.findMaskedPaths();
    const record = { accountID, clusterID, options, settings: { ...settings, maskedPaths } };
    const allocation = await storage.inThread(() => directory.make(`allocation-${randomUUID()}`, record));
    this.#allocations.set(allocation.key, { allocation, group });
    this.#explain(group, 'waits for an allocation, which is submitted to Slurm');
    void this.#submit(allocation, group);
  }

  async #submit(allocation: Allocation, group: Group): Promise<void> {
    const failure = await submitAllocation(allocation, this.#options.jobs);
    if (failure !== undefined) this.#fail(group, failure);
  }

  #fail(group: Group, why: string): void {
    noteFailure(group, why);
    this.#explain(group, group.reason);
  }

  /** Says to all containers what they wait for. */
  #explain(group: Group, reason: string): void {
    group.reason = reason;
    for (const key of group.waiting.keys()) this.#sink?.report(key, { type: 'pending', reason });
  }

  #wait(container: PooledContainer): void {
    container.allocation = undefined;
    if (container.isStopped) void this.#endWaiting(container);
    else container.group.waiting.set(container.launch.key, container);
  }

  async #endWaiting(container: PooledContainer): Promise<void> {
    const { key, directory } = container.launch;
    container.group.waiting.delete(key);
    // If Slurm was wrong about the end of an allocation, an agent of it could still start the container.
    await this.#options.storage.inThread(() => claimAbsent(directory));
    this.#end(container, { type: 'ended', endedAt: Date.now(), end: { kind: 'stopped' } });
  }

  #end(container: PooledContainer, ended: EndedObservation): void {
    container.allocation = undefined;
    if (container.ended !== undefined) return;
    container.ended = ended;
    this.#sink?.report(container.launch.key, ended);
  }

  /** Once it is known where its allocation runs. */
  #reportRunning({ launch, running, allocation }: PooledContainer): void {
    const place = allocation?.place;
    if (running !== undefined && place !== undefined) this.#sink?.report(launch.key, { ...running, ...place });
  }

  #giveAway(key: string): void {
    const container = this.#containers.get(key);
    container?.group.waiting.delete(key);
    this.#containers.delete(key);
    if (container !== undefined) this.#options.onTooBig(container.launch);
  }

  /** Throws if they cannot be written now: the next tick tries again. */
  async #send(allocation: Allocation): Promise<void> {
    await this.#options.storage.inThread(() => allocation.sendOrders());
  }

  async #discard(key: string): Promise<void> {
    const { directory, storage } = this.#options;
    this.#outcomes.delete(key);
    await storage.inThread(() => directory.remove(key));
  }

  #groupOf(of: Pick<Group, 'accountID' | 'options'>): Group {
    const key = groupKey(of);
    const group = this.#groups.get(key) ?? createGroup(of);
    this.#groups.set(key, group);
    return group;
  }

  #isBusy(): boolean {
    for (const { allocation } of this.#allocations.values()) if (allocation.assigned.size > 0) return true;
    return [...this.#groups.values()].some(({ waiting }) => waiting.size > 0);
  }
}
