/** A request that waits for GPUs. */
interface Waiter {
  readonly key: string;
  readonly wanted: GpuRequest;
  readonly grant: (ids: readonly string[]) => void;
}

/** How many GPUs a container gets, and of which. */
export interface GpuRequest {
  readonly ids: readonly string[];
  readonly count: number;
}

/**
 * Which container has which GPUs. An identifier belongs to at most one container at a time. Requests are granted in their
 * order; a later one overtakes only if it wants none of what an earlier one waits for.
 */
export class GpuLeases {
  readonly #held = new Map<string, readonly string[]>();
  readonly #waiting = new Set<Waiter>();

  /** The identifiers of this container, which it keeps until `release`; an earlier answer is repeated. Rejects if `signal` is aborted. */
  async acquire(key: string, wanted: GpuRequest, options: AcquireOptions): Promise<readonly string[]> {
    const known = this.#held.get(key);
    if (known !== undefined) return known;
    return await new Promise((resolve, reject) => {
      const { signal } = options;
      const waiter: Waiter = {
        key,
        wanted,
        grant: (ids) => {
          signal?.removeEventListener('abort', giveUp);
          resolve(ids);
        },
      };
      const giveUp = () => {
        this.#waiting.delete(waiter);
        reject(new Error('stopped before it had its GPUs'));
        this.#grantFree();
      };
      if (signal?.aborted) return reject(new Error('stopped before it had its GPUs'));
      signal?.addEventListener('abort', giveUp, { once: true });
      this.#waiting.add(waiter);
      this.#grantFree();
      if (this.#waiting.has(waiter)) options.onWait(this.#holdersOf(wanted));
    });
  }

  /** What an earlier service has given to a container that has not ended. */
  restore(key: string, ids: readonly string[]): void {
    if (ids.length > 0) this.#held.set(key, ids);
  }

  /** Whether the container holds exactly these. */
  holds(key: string, ids: readonly string[]): boolean {
    const held = this.#held.get(key) ?? [];
    return held.length === ids.length && held.every((id) => ids.includes(id));
  }

  /** Call this when the container has ended or certainly never starts. */
  release(key: string): void {
    if (this.#held.delete(key)) this.#grantFree();
  }

  #grantFree(): void {
    const taken = new Set([...this.#held.values()].flat());
    for (const waiter of this.#waiting) {
      const { ids, count } = waiter.wanted;
      const free = ids.filter((id) => !taken.has(id)).slice(0, count);
      if (free.length === count) {
        this.#waiting.delete(waiter);
        this.#held.set(waiter.key, free);
        waiter.grant(free);
      }
      // What an earlier request waits for is not given to a later one.
      for (const id of free.length === count ? free : ids) taken.add(id);
    }
  }

  #holdersOf({ ids }: GpuRequest): number {
    return [...this.#held.values()].filter((held) => held.some((id) => ids.includes(id))).length;
  }
}

interface AcquireOptions {
  readonly signal: AbortSignal | undefined;
  /** Called at once if the container has to wait, with the number of containers that have such GPUs. */
  readonly onWait: (holders: number) => void;
}
