import { join } from 'node:path';
import type { Launch, Limits } from '../engine.ts';
import type { NodePlace } from '../slurm/slurm-nodes.ts';
import type { AgentSettings } from './agent-settings.ts';
import { ORDERS, REPORTS } from './allocation-files.ts';
import { type OpenNode, without } from './plan-allocations.ts';
import { openSpool, type SpoolTail, type SpoolWriter, tailSpool } from './spool-file.ts';
import { type EndedObservation, type Order, parseReport, type Report, renderLine } from './spool-lines.ts';

/** How long the ends are remembered by which the rate is measured. */
const RATE_MS = 1000;
/** The agent has the next containers at hand for so long, until the service has seen its reports and answered. */
const AHEAD_MS = 1000;

/** A node of an allocation, with its agent, as the service sees it. */
export class AllocationNode {
  /** That of the allocation, and its number. */
  readonly key: string;
  /** Contains its orders and reports. */
  readonly directory: string;
  /** Containers that were ordered and have neither ended nor come back, and whether each is known to run. */
  readonly assigned = new Map<string, { readonly limits: Limits; isRunning: boolean }>();
  /** How its containers have ended, until they are removed. */
  readonly outcomes = new Map<string, EndedObservation>();
  readonly #timeLimitMs: number;
  readonly #graceMs: number;
  /** What its agent has for containers; undefined before it has begun. */
  capacity: Limits | undefined;
  /** Where it is, as Slurm says. */
  place: NodePlace | undefined;
  /** Why it takes no more containers. */
  leaving: string | undefined;
  /** By a monotonic clock: when it last had something to do, and when its agent last reported. */
  busyAt = performance.now();
  reportedAt = performance.now();
  #readyAt = 0;
  #ends: number[] = [];
  #waitingOrders: string[] = [];
  readonly #orders: SpoolWriter;
  readonly #reports: SpoolTail;

  constructor(
    { key, directory }: Pick<Launch, 'key' | 'directory'>,
    { timeLimitMs, graceMs }: Pick<AgentSettings, 'timeLimitMs' | 'graceMs'>,
  ) {
    this.key = key;
    this.directory = directory;
    this.#timeLimitMs = timeLimitMs;
    this.#graceMs = graceMs;
    this.#orders = openSpool(join(directory, ORDERS));
    this.#reports = tailSpool(join(directory, REPORTS));
  }

  /** How long containers may still run. As in `Agent`, they are stopped before the time limit. */
  #msLeft(): number {
    return this.#readyAt + this.#timeLimitMs - 2 * this.#graceMs - Date.now();
  }

  #free(): Limits {
    const all = this.capacity ?? { cores: 0, memoryBytes: 0, gpus: 0 };
    return [...this.assigned.values()].reduce((free, { limits }) => without(free, limits), all);
  }

  #ahead(): number {
    let count = 0;
    for (const { isRunning } of this.assigned.values()) if (!isRunning) count += 1;
    return count;
  }

  /** By how many containers have ended within the last second. */
  #mostAhead(): number {
    const from = performance.now() - RATE_MS;
    this.#ends = this.#ends.filter((at) => at >= from);
    return Math.max(1, Math.ceil((this.#ends.length * AHEAD_MS) / RATE_MS));
  }

  /** As it is for the plan. It takes nothing before Slurm has said where it runs. */
  describe(): Omit<OpenNode, 'allocation'> {
    const idleMs = this.assigned.size > 0 ? 0 : performance.now() - this.busyAt;
    const capacity = this.place && this.capacity;
    return {
      ...{ key: this.key, capacity, free: this.#free(), idleMs, msLeft: this.#msLeft() },
      ahead: this.#ahead(),
      mostAhead: this.#mostAhead(),
    };
  }

  /** Ends its agent when its containers have ended. */
  dismiss(): void {
    this.leaving = 'it had nothing to do';
    this.order({ type: 'end' });
  }

  /** Takes effect with the next `sendOrders`. */
  order(order: Order): void {
    this.#waitingOrders.push(renderLine(order));
  }

  /** Throws if they cannot be written now; they are kept then, and an agent ignores what it knows. */
  async sendOrders(): Promise<void> {
    const count = this.#waitingOrders.length;
    if (count === 0) return;
    await this.#orders.append(this.#waitingOrders.slice(0, count).join(''));
    this.#waitingOrders.splice(0, count);
  }

  /** New reports, already taken into account here. */
  async readReports(): Promise<Report[]> {
    const reports = (await this.#reports.read()).flatMap((line) => parseReport(line) ?? []);
    if (reports.length > 0) this.reportedAt = performance.now();
    for (const report of reports) {
      if (report.type === 'ready') {
        if (this.capacity === undefined) this.#readyAt = report.at;
        this.capacity = { cores: report.cores, memoryBytes: report.memoryBytes, gpus: report.gpus };
      }
      if (report.type === 'leaving') this.leaving ??= report.reason;
      if (report.type === 'seen' && report.observation.type === 'running') {
        const one = this.assigned.get(report.key);
        if (one !== undefined) one.isRunning = true;
      }
    }
    return reports;
  }

  assign(launch: Pick<Launch, 'key' | 'limits'>): void {
    this.assigned.set(launch.key, { limits: launch.limits, isRunning: false });
    this.busyAt = performance.now();
  }

  /** `ended`: how it has ended here; otherwise it came back. */
  release(key: string, ended?: EndedObservation): void {
    if (ended !== undefined) this.outcomes.set(key, ended);
    if (!this.assigned.delete(key)) return;
    this.busyAt = performance.now();
    this.#ends.push(this.busyAt);
  }
}
