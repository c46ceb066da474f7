import { join } from 'node:path';
import type { Feature } from '@sluice/client';
import type { End, Engine, Launch, Limits, Observation } from '../engine.ts';
import { ALLOCATION_ENDED } from './allocation-ended.ts';
import { ORDERS, REPORTS } from './allocation-files.ts';
import type { IdleNodes } from './idle-nodes.ts';
import type { NodeGpus } from './node-gpus.ts';
import { holds } from './plan-allocations.ts';
import { ReportLog } from './report-log.ts';
import { openSpool, type SpoolTail, tailSpool } from './spool-file.ts';
import { type Order, parseOrder, parseReport, type Report, toReport } from './spool-lines.ts';
import { tryLaunch } from './try-launch.ts';

/** How often orders are looked for: right after the last ones, and when none have come for long. */
const POLL_MS = { least: 20, most: 500 };
const ALIVE_MS = 10_000;
/** An end of so short a time before the allocation is ended may be how the command reacts to that. */
const DOUBTED_MS = 1000;

/** What an agent works with. */
export interface AgentOptions {
  /** Opened and closed by the agent. */
  readonly engine: Engine;
  /** What the service has announced of the cluster: without it, the agent runs nothing. */
  readonly needs: readonly Feature[];
  /** Of the allocation: contains its orders and reports. */
  readonly directory: string;
  /** For all containers together. */
  readonly capacity: Limits;
  /** Those of `capacity`. */
  readonly gpus: NodeGpus;
  /** How long an allocation lasts, from the start of its first agent. */
  readonly timeLimitMs: number;
  /** How long containers have between SIGTERM and the end of the allocation. */
  readonly graceMs: number;
  /** The agent ends when it and all others of the allocation had nothing to do for so long. */
  readonly idleMs: number;
  readonly idle: IdleNodes;
}

interface Entry {
  readonly launch: Launch;
  readonly needMs: number | undefined;
  /** `unknown`: an earlier agent may have started it. */
  state: 'unknown' | 'waiting' | 'launching' | 'live';
  /** The grace period of a requested stop. */
  stop?: number;
}

/**
 * Runs the containers that a service orders, on one node of a job of Slurm. Orders and reports are files on the shared storage, so that
 * it needs no network, and the service may be away. What it does is in these files and in the containers' own records: the
 * next agent of the same job continues after one that was killed.
 */
export class Agent {
  readonly #options: AgentOptions;
  readonly #orders: SpoolTail;
  readonly #reports: ReportLog;
  readonly #entries = new Map<string, Entry>();
  /** Containers that have ended here or were returned: an order for one is not obeyed again. */
  readonly #done = new Set<string>();
  #beganAt = Date.now();
  #isLeaving = false;
  /** When a signal or the time limit ended the allocation. */
  #toldAt: number | undefined;
  #wake: () => void = () => {};

  constructor(options: AgentOptions) {
    this.#options = options;
    this.#orders = tailSpool(join(options.directory, ORDERS));
    this.#reports = new ReportLog(openSpool(join(options.directory, REPORTS)), (report) => this.#doubted(report));
  }

  /** Resolves when nothing is left to do, and all of it is reported. */
  async run(): Promise<void> {
    const { engine, capacity } = this.#options;
    try {
      await engine.open({ report: (key, observation) => this.#observe(key, observation) });
    } catch (error) {
      this.#drain(`it cannot run containers: ${(error as Error).message}`);
      return await this.#reports.written();
    }
    await this.#resume();
    if (!this.#options.needs.every((feature) => engine.features.includes(feature)))
      this.#drain(
        'it cannot run containers: they could change their inputs, because the node allows no user namespaces',
      );
    this.#reports.add({ type: 'ready', ...capacity, at: this.#beganAt });
    await this.#work();
    await this.#reports.written();
    await engine.close();
  }

  /** Begins nothing more, and stops what runs. May be called before `run`. */
  leave(reason: string): void {
    this.#toldAt ??= Date.now();
    this.#reports.add({ type: 'leaving', reason, toldAt: this.#toldAt });
    this.#drain(reason);
    this.#stopAll();
  }

  #stopAll(): void {
    for (const [key, { state }] of this.#entries) if (state === 'live') this.#stop(key, this.#options.graceMs);
    this.#wake();
  }

  async #work(): Promise<void> {
    const { idle, idleMs, graceMs } = this.#options;
    let pollMs = POLL_MS.least;
    let aliveAt = performance.now();
    let busyAt = aliveAt;
    while (!this.#isLeaving || this.#entries.size > 0) {
      const hasNew = await this.#readOrders();
      if (this.#msLeft() <= 0 && this.#toldAt === undefined) this.leave('its time limit is reached');
      this.#startNext();
      const now = performance.now();
      if (this.#entries.size > 0) busyAt = now;
      if (await idle.areAll(now - busyAt >= idleMs)) this.#drain('it had nothing to do');
      if (now - aliveAt >= ALIVE_MS) {
        this.#reports.add({ type: 'alive' });
        aliveAt = now;
      }
      pollMs = hasNew ? POLL_MS.least : Math.min(POLL_MS.most, pollMs * 1.1);
      await this.#sleep(Math.min(pollMs, graceMs));
    }
  }

  /** Continues what an earlier agent of this allocation has left. */
  async #resume(): Promise<void> {
    const tail = tailSpool(join(this.#options.directory, REPORTS));
    let isFirst = true;
    let wasLeaving = false;
    for (let lines = await tail.read(); lines.length > 0; lines = await tail.read()) {
      for (const report of lines.map(parseReport)) {
        if (report?.type === 'ready' && isFirst) {
          this.#beganAt = report.at;
          isFirst = false;
        }
        wasLeaving ||= report?.type === 'leaving';
        if (report?.type === 'leaving') this.#toldAt ??= report.toldAt;
        if (report?.type === 'returned' || (report?.type === 'seen' && report.observation.type === 'ended'))
          this.#done.add(report.key);
      }
    }
    while (await this.#readOrders('unknown'));
    const launches = [...this.#entries.values()].map(({ launch }) => launch);
    for (const launch of launches) await this.#options.gpus.restore(launch);
    await this.#options.engine.recover(launches);
    for (const [key, { stop }] of this.#entries) if (stop !== undefined) this.#stop(key, stop);
    if (wasLeaving) this.#drain('the allocation ends');
    if (this.#toldAt !== undefined) this.#stopAll();
  }

  /** Whether there were any. */
  async #readOrders(state: 'unknown' | 'waiting' = 'waiting'): Promise<boolean> {
    // A storage that does not answer now is read later.
    const lines = await this.#orders.read().catch(() => []);
    for (const order of lines.map(parseOrder)) if (order !== undefined) this.#obey(order, state);
    return lines.length > 0;
  }

  #obey(order: Order, state: 'unknown' | 'waiting'): void {
    if (order.type === 'end') {
      this.#drain('the service has ended it');
      return;
    }
    if (order.type === 'stop') {
      const entry = this.#entries.get(order.key);
      if (entry === undefined) return;
      entry.stop = Math.min(order.graceMs, entry.stop ?? Number.POSITIVE_INFINITY);
      if (entry.state === 'waiting') this.#end(order.key, { kind: 'stopped' });
      else if (entry.state === 'live') this.#stop(order.key, entry.stop);
      return;
    }
    const { launch, needMs } = order;
    if (this.#done.has(launch.key) || this.#entries.has(launch.key)) return;
    this.#entries.set(launch.key, { launch, needMs, state });
    if (state === 'waiting' && this.#isLeaving) this.#return(launch.key, 'the allocation ends');
  }

  /** In order: a container that needs much would otherwise wait for all that need little. */
  #startNext(): void {
    const free = { ...this.#options.capacity };
    for (const { state, launch } of this.#entries.values()) if (state !== 'waiting') take(free, launch.limits);
    for (const entry of this.#entries.values()) {
      if (entry.state !== 'waiting') continue;
      const { limits, key } = entry.launch;
      if (!holds(free, limits)) return;
      if ((entry.needMs ?? 0) > this.#msLeft()) this.#return(key, 'too little time is left');
      else {
        take(free, limits);
        void this.#launch(entry);
      }
    }
  }

  async #launch(entry: Entry): Promise<void> {
    const { launch } = entry;
    entry.state = 'launching';
    const { engine, gpus } = this.#options;
    const failure = await tryLaunch(async () => await engine.launch(await gpus.assign(launch)));
    if (failure?.later !== undefined) {
      if (entry.stop === undefined) this.#return(launch.key, failure.later);
      else this.#end(launch.key, { kind: 'stopped' });
    } else if (failure !== undefined) this.#end(launch.key, failure.end);
    else {
      if (entry.state === 'launching') entry.state = 'live';
      // Requested in the meantime.
      if (entry.stop !== undefined) this.#stop(launch.key, entry.stop);
      else if (this.#toldAt !== undefined) this.#stop(launch.key, this.#options.graceMs);
    }
  }

  #stop(key: string, graceMs: number): void {
    // Only a launcher that cannot be replaced rejects: then the job ends, and with it the container.
    this.#options.engine.stop(key, { graceMs }).catch(() => undefined);
  }

  #observe(key: string, observation: Observation): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    if (observation.type === 'absent') {
      entry.state = 'waiting';
      this.#options.gpus.release(key);
      if (entry.stop !== undefined) this.#end(key, { kind: 'stopped' });
      else if (this.#isLeaving) this.#return(key, 'the allocation ends');
      return;
    }
    entry.state = 'live';
    if (observation.type !== 'ended') {
      const report = toReport(observation);
      if (report !== undefined) this.#reports.add({ type: 'seen', key, observation: report });
      return;
    }
    const { end, endedAt } = observation;
    const isOurs = end.kind === 'stopped' && entry.stop === undefined;
    this.#end(key, isOurs ? { kind: 'fault', reason: `${ALLOCATION_ENDED} before the command did` } : end, endedAt);
  }

  #end(key: string, end: End, endedAt = Date.now()): void {
    this.#forget(key);
    const observation = toReport({ type: 'ended', endedAt, end });
    if (observation !== undefined) this.#reports.add({ type: 'seen', key, observation });
    this.#startNext();
  }

  #return(key: string, reason: string): void {
    this.#forget(key);
    this.#reports.add({ type: 'returned', key, reason: reason.slice(0, 1000) });
  }

  #forget(key: string): void {
    this.#entries.delete(key);
    this.#done.add(key);
    this.#options.gpus.release(key);
    void this.#options.engine.remove(key).catch(() => undefined);
    if (this.#isLeaving && this.#entries.size === 0) this.#wake();
  }

  /** Takes no more orders; what waits goes back to the service. */
  #drain(reason: string): void {
    if (this.#isLeaving) return;
    this.#isLeaving = true;
    this.#reports.add({ type: 'leaving', reason: reason.slice(0, 8000) });
    for (const [key, { state }] of this.#entries) if (state === 'waiting') this.#return(key, reason);
    this.#wake();
  }

  /** Until containers are stopped, so that they have their grace period and their records are written. */
  #msLeft(): number {
    const { timeLimitMs, graceMs } = this.#options;
    return this.#beganAt + timeLimitMs - 2 * graceMs - Date.now();
  }

  /**
   * Slurm signals all processes of a job, one after the other, and a command may end with any code on that: repeating it loses
   * time, believing a success loses data, and believing a failure costs a retry.
   */
  #doubted(report: Report): Report {
    if (this.#toldAt === undefined || report.type !== 'seen' || report.observation.type !== 'ended') return report;
    const { end, endedAt } = report.observation;
    if (end.kind !== 'exited' || end.outOfMemory === true || endedAt < this.#toldAt - DOUBTED_MS) return report;
    const fault = { kind: 'fault', reason: `${ALLOCATION_ENDED} while the command did` } as const;
    return { ...report, observation: { ...report.observation, end: fault } };
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

function take(free: { -readonly [Name in keyof Limits]: Limits[Name] }, { cores, memoryBytes, gpus }: Limits): void {
  free.cores -= cores;
  free.memoryBytes -= memoryBytes;
  free.gpus -= gpus;
}
