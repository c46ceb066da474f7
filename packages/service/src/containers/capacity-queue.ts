import type { Amount } from '../store/container-row.ts';

/** The capacity that a container waits for or holds. */
export interface Claim {
  readonly key: string;
  readonly amount: Amount;
}

/**
 * Assigns a cluster's capacity strictly first in, first out. A container that does not fit blocks later ones: this leaves
 * some capacity unused, but a stream of small containers cannot starve a large one.
 */
export class CapacityQueue {
  readonly #capacity: Amount | undefined;
  readonly #admit: (key: string) => void;
  readonly #held = new Map<string, Amount>();
  /** In order. A released claim leaves a hole until the front passes it. */
  #waiting: (Claim | undefined)[] = [];
  #front = 0;
  readonly #places = new Map<string, number>();
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

  enqueue(claim: Claim): void {
    if (this.#held.has(claim.key) || this.#places.has(claim.key)) return;
    this.#places.set(claim.key, this.#waiting.length);
    this.#waiting.push(claim);
  }

  /** Releases the capacity of `key`, or removes it from the queue. Idempotent. The next `pump` admits others. */
  release(key: string): void {
    const amount = this.#held.get(key);
    if (amount !== undefined) {
      this.#held.delete(key);
      this.#used = add(this.#used, amount, -1);
    }
    const place = this.#places.get(key);
    if (place !== undefined) {
      this.#places.delete(key);
      this.#waiting[place] = undefined;
    }
  }

  /** Admits claims from the front while they fit. */
  pump(): void {
    for (;;) {
      while (this.#front < this.#waiting.length && this.#waiting[this.#front] === undefined) this.#front++;
      const claim = this.#waiting[this.#front];
      if (claim === undefined) break;
      if (this.#shortage(claim.amount) !== undefined) break;
      this.#waiting[this.#front] = undefined;
      this.#places.delete(claim.key);
      this.hold(claim);
      this.#admit(claim.key);
    }
    if (this.#front > 1024 && this.#front * 2 > this.#waiting.length) this.#compact();
  }

  /** Why `key` waits; undefined if it does not. */
  reason(key: string, clusterID: string): string | undefined {
    const place = this.#places.get(key);
    if (place === undefined) return undefined;
    const before = this.#before(place);
    const shortage = this.#shortage(this.#waiting[place]!.amount);
    if (shortage === undefined || before > 0)
      return `queued in cluster ${clusterID} behind ${before} other${before === 1 ? '' : 's'}`;
    return `waiting for ${shortage.wanted} of cluster ${clusterID} (${shortage.free} free)`;
  }

  /** The number of waiting claims. */
  get length(): number {
    return this.#places.size;
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

  /** The number of claims ahead; beyond a thousand places it includes holes, which bounds the cost. */
  #before(place: number): number {
    if (place - this.#front > 1000) return place - this.#front;
    let count = 0;
    for (let i = this.#front; i < place; i++) if (this.#waiting[i] !== undefined) count++;
    return count;
  }

  #compact(): void {
    this.#waiting = this.#waiting.slice(this.#front);
    for (const [key, place] of this.#places) this.#places.set(key, place - this.#front);
    this.#front = 0;
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
