import type { Amount } from '../store/container-row.ts';
import { type Line, TurnQueue } from './turn-queue.ts';

/** The capacity that a container waits for or holds. */
export interface Claim {
  readonly key: string;
  readonly amount: Amount;
}

/** A claim that waits. */
export interface WaitingClaim extends Claim {
  readonly line: Line;
}

/**
 * Assigns a cluster's capacity: accounts take turns, and so do the lines of an account, each of which is first in, first
 * out. The next container, if it does not fit, blocks all others: this leaves some capacity unused, but a stream of small
 * containers cannot starve a large one.
 */
export class CapacityQueue {
  readonly #capacity: Amount | undefined;
  readonly #admit: (key: string) => void;
  readonly #held = new Map<string, Amount>();
  readonly #queue = new TurnQueue();
  readonly #amounts = new Map<string, Amount>();
  #used: Amount = { cores: 0, memoryGB: 0, gpus: 0 };

  /** Without `capacity` everything fits. `pump` calls `admit` with the key of each claim that fits. */
  constructor(capacity: Amount | undefined, admit: (key: string) => void) {
    this.#capacity = capacity;
    this.#admit = admit;
  }

  /** Counts a claim as held, whether it fits or not, for containers that run after a restart. */
  hold(claim: Claim): void {
    if (this.#held.has(claim.key)) return;
    this.#held.set(claim.key, claim.amount);
    this.#used = add(this.#used, claim.amount, 1);
  }

  enqueue({ key, amount, line }: WaitingClaim): void {
    if (this.#held.has(key) || this.#queue.has(key)) return;
    this.#amounts.set(key, amount);
    this.#queue.push(key, line);
  }

  /** Releases the capacity of `key`, or removes it from the queue. Idempotent. The next `pump` admits others. */
  release(key: string): void {
    const amount = this.#held.get(key);
    if (amount !== undefined) {
      this.#held.delete(key);
      this.#used = add(this.#used, amount, -1);
    }
    this.#amounts.delete(key);
    this.#queue.remove(key);
  }

  /** Admits the claims whose turn is next while they fit. */
  pump(): void {
    for (let key = this.#queue.first(); key !== undefined; key = this.#queue.first()) {
      const amount = this.#amounts.get(key)!;
      if (this.#shortage(amount) !== undefined) return;
      this.#queue.shift();
      this.#amounts.delete(key);
      this.hold({ key, amount });
      this.#admit(key);
    }
  }

  /** Why `key` waits; undefined if it does not. */
  reason(key: string, clusterID: string): string | undefined {
    const amount = this.#amounts.get(key);
    if (amount === undefined) return undefined;
    const before = this.#queue.before(key);
    const shortage = this.#shortage(amount);
    if (shortage === undefined || before > 0)
      return `queued in cluster ${clusterID} behind ${before} other${before === 1 ? '' : 's'}`;
    return `waiting for ${shortage.wanted} of cluster ${clusterID} (${shortage.free} free)`;
  }

  /** The number of waiting claims. */
  get length(): number {
    return this.#queue.size;
  }

  /** The capacity in use. */
  get used(): Amount {
    return this.#used;
  }

  #shortage(amount: Amount): { wanted: string; free: string } | undefined {
    if (this.#capacity === undefined) return undefined;
    for (const kind of ['cores', 'memoryGB', 'gpus'] as const) {
      const free = Math.max(0, this.#capacity[kind] - this.#used[kind]);
      if (amount[kind] > free) return { wanted: renderAmount(kind, amount[kind]), free: renderFree(kind, free) };
    }
    return undefined;
  }
}

function add(a: Amount, b: Amount, sign: 1 | -1): Amount {
  return { cores: a.cores + sign * b.cores, memoryGB: a.memoryGB + sign * b.memoryGB, gpus: a.gpus + sign * b.gpus };
}

function renderAmount(kind: keyof Amount, value: number): string {
  if (kind === 'memoryGB') return `${value} GB of memory`;
  return `${value} ${kind === 'cores' ? 'core' : 'GPU'}${value === 1 ? '' : 's'}`;
}

function renderFree(kind: keyof Amount, value: number): string {
  return kind === 'memoryGB' ? `${value} GB` : String(value);
}
