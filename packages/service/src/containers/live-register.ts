import type { LiveContainer } from './live-container.ts';
import { LiveIndex } from './live-index.ts';

/** The live containers of a cluster, indexed by row, launch key, account and mounted volume. */
export class LiveRegister {
  readonly #byRowKey = new Map<string, LiveContainer>();
  readonly #byLaunchKey = new Map<string, LiveContainer>();
  readonly #byAccount = new Map<string, LiveIndex>();
  readonly #coresByAccount = new Map<string, number>();
  /** The number of mounts per volume. */
  readonly #mounted = new Map<string, number>();

  get(rowKey: string): LiveContainer | undefined {
    return this.#byRowKey.get(rowKey);
  }

  launchedAs(launchKey: string): LiveContainer | undefined {
    return this.#byLaunchKey.get(launchKey);
  }

  all(): Iterable<LiveContainer> {
    return this.#byRowKey.values();
  }

  containersOf(accountID: string): LiveIndex {
    let index = this.#byAccount.get(accountID);
    if (index === undefined) {
      index = new LiveIndex();
      this.#byAccount.set(accountID, index);
    }
    return index;
  }

  coresOf(accountID: string): number {
    return this.#coresByAccount.get(accountID) ?? 0;
  }

  isMounted(volumeKey: string): boolean {
    return this.#mounted.has(volumeKey);
  }

  add(live: LiveContainer): void {
    this.#byRowKey.set(live.rowKey, live);
    this.#byLaunchKey.set(live.row.launchKey, live);
    this.containersOf(live.row.accountID).add(live.rowKey);
    this.#addCores(live, 1);
    this.mount(volumesOf(live), 1);
  }

  /** Counts mounts of volumes, or with -1 their ends. */
  mount(volumeKeys: Iterable<string>, change: 1 | -1): void {
    for (const key of volumeKeys) {
      const count = (this.#mounted.get(key) ?? 0) + change;
      if (count === 0) this.#mounted.delete(key);
      else this.#mounted.set(key, count);
    }
  }

  /** Call it after the row's launch key has changed from `old`. */
  rename(live: LiveContainer, old: string): void {
    this.#byLaunchKey.delete(old);
    this.#byLaunchKey.set(live.row.launchKey, live);
  }

  /** Removes the container and calls its `onGone` listeners. */
  remove(live: LiveContainer): void {
    if (this.#byRowKey.delete(live.rowKey)) {
      this.#addCores(live, -1);
      this.mount(volumesOf(live), -1);
    }
    this.#byLaunchKey.delete(live.row.launchKey);
    this.containersOf(live.row.accountID).delete(live.rowKey);
    for (const listener of live.onGone) listener();
  }

  #addCores({ row: { accountID, amount } }: LiveContainer, sign: 1 | -1): void {
    this.#coresByAccount.set(accountID, this.coresOf(accountID) + sign * amount.cores);
  }
}

function volumesOf({ row }: LiveContainer): readonly string[] {
  return row.mounts.map(({ volumeKey }) => volumeKey);
}
