import type { KnownContainerPhase } from '@sluice/client';
import type { Clock } from '../clock.ts';
import type { EngineDriver } from '../clusters/engine-driver.ts';
import type { Launch, Observation } from '../engines/engine.ts';
import { put, remove, type Store } from '../store/store.ts';
import { TABLES, timeKey } from '../store/tables.ts';
import type { Amount, CapacityQueue } from './capacity-queue.ts';
import type { ContainerRow } from './container-row.ts';
import { LiveIndex } from './live-index.ts';
import { nextPhase, type PhaseTrigger } from './phase-table.ts';
import { renderListItem } from './render-container.ts';
import { renderEnd } from './render-end.ts';

/** A container that has not ended, or is deleted and not yet cleaned up. */
export interface LiveContainer {
  readonly rowKey: string;
  /** What may be told of it. Replaced as a whole, never changed. */
  row: ContainerRow;
  launch: Launch;
  readonly amount: Amount;
  /** Whether the engine was asked to launch it, by this process or an earlier one. */
  launched: boolean;
  /** Its end is known and on the way to the disk. */
  ending: boolean;
  /** Resolves once the row that says it exists is durable; before, nobody is told of it. */
  readonly created: Promise<void>;
  isCreated: boolean;
  /** Called when nothing of it is live any more. */
  readonly onGone: Set<() => void>;
}

export interface LiveContainersOptions {
  readonly clusterID: string;
  readonly store: Store;
  readonly clock: Clock;
  readonly driver: EngineDriver;
  readonly queue: CapacityQueue;
  /** A container has changed in a way that a reader could see. */
  readonly onChange: (row: ContainerRow) => void;
  /** Nothing may reach its ports any more: it has ended or is being removed. Comes before `onChange`, perhaps twice. */
  readonly onUnreachable: (row: ContainerRow) => void;
  /** The same container under a launch key of its own, with an empty directory. */
  readonly renew: (row: ContainerRow) => { row: ContainerRow; launch: Launch };
  /** Removes the directory of a launch key that no row has any more. */
  readonly removeDirectory: (launchKey: string) => void;
  /** Removes what is outside of the store; false where that failed. May be called again after a crash. */
  readonly cleanUp: (row: ContainerRow) => Promise<boolean>;
  /** The store can no longer be written. */
  readonly onFailure: (error: unknown) => void;
}

/**
 * All live containers of a cluster, and the one place where their phases change. Rows reach the store when they
 * change; an end is told to nobody before it is durable, all else that an engine would report again is told at once.
 */
export class LiveContainers {
  readonly #options: LiveContainersOptions;
  readonly #byRowKey = new Map<string, LiveContainer>();
  readonly #byLaunchKey = new Map<string, LiveContainer>();
  readonly #byAccount = new Map<string, LiveIndex>();
  /** How often each volume is mounted. */
  readonly #mounted = new Map<string, number>();

  constructor(options: LiveContainersOptions) {
    this.#options = options;
  }

  get(rowKey: string): LiveContainer | undefined {
    return this.#byRowKey.get(rowKey);
  }

  all(): Iterable<LiveContainer> {
    return this.#byRowKey.values();
  }

  ofAccount(accountID: string): LiveIndex {
    let index = this.#byAccount.get(accountID);
    if (index === undefined) {
      index = new LiveIndex();
      this.#byAccount.set(accountID, index);
    }
    return index;
  }

  isMounted(volumeKey: string): boolean {
    return this.#mounted.has(volumeKey);
  }

  /** Takes up a container, of this process (`created` pending) or of an earlier one. Nothing starts yet. */
  add(
    entry: Pick<LiveContainer, 'rowKey' | 'row' | 'launch' | 'amount' | 'created'>,
    options: { launched: boolean },
  ): LiveContainer {
    const { launched } = options;
    const live: LiveContainer = { ...entry, launched, ending: false, isCreated: launched, onGone: new Set() };
    this.#byRowKey.set(live.rowKey, live);
    this.#byLaunchKey.set(live.row.launchKey, live);
    this.ofAccount(live.row.accountID).add(live.rowKey);
    for (const { volumeKey } of live.row.mounts) this.#mounted.set(volumeKey, (this.#mounted.get(volumeKey) ?? 0) + 1);
    if (launched) this.#options.queue.hold({ key: live.rowKey, amount: live.amount });
    return live;
  }

  /** Forgets one whose row did not become durable. */
  discard(live: LiveContainer): void {
    this.#forget(live);
  }

  /** Takes back that it is marked as deleted, which did not become durable. */
  unmarkDeleted(live: LiveContainer): void {
    const { deleted: _, ...row } = live.row;
    live.row = row;
    this.#options.store.write([put(TABLES.containers, live.rowKey, row)]);
  }

  /** Lets a container whose row is durable wait for its turn. */
  enqueue(live: LiveContainer): void {
    live.isCreated = true;
    if (live.ending || live.launched) return;
    if (live.row.phase === 'Creating') live.row = { ...live.row, phase: 'Pending', state: 'waiting for capacity' };
    this.#options.queue.enqueue({ key: live.rowKey, amount: live.amount });
    this.#options.queue.pump();
  }

  /** The queue's answer: there is room for it. */
  admit(rowKey: string): void {
    const live = this.#byRowKey.get(rowKey);
    if (live === undefined || live.ending) return;
    live.launched = true;
    live.row = { ...live.row, state: 'starting' };
    this.#options.driver.launch(live.launch);
  }

  /** The row's `state`, worked out for those that wait. */
  stateOf(live: LiveContainer): string {
    if (live.row.phase !== 'Pending' || live.launched) return live.row.state;
    return this.#options.queue.reason(live.rowKey, this.#options.clusterID) ?? live.row.state;
  }

  /** Resolves once the wish is durable; the end comes later. False where the container has ended meanwhile. */
  async cancel(live: LiveContainer, graceMs: number): Promise<boolean> {
    if (live.ending) {
      await new Promise<void>((resolve) => live.onGone.add(resolve));
      return false;
    }
    const { store, driver, clock } = this.#options;
    if (live.row.phase !== 'Canceling' && !live.launched) {
      const state = 'canceled before it was started';
      const ended = this.#end(live, 'withdraw', { state, endTime: clock.now() });
      await store.commit([]);
      await ended;
      return true;
    }
    if (live.row.phase !== 'Canceling') {
      this.#change(live, { phase: nextPhase(live.row.phase, 'cancel') ?? live.row.phase, state: 'canceling' });
    }
    try {
      await store.commit([]);
    } finally {
      // On a full disk too: what is to be stopped may be what fills it.
      driver.stop(live.launch, graceMs);
    }
    return true;
  }

  /**
   * Kills what runs and removes every trace. The row must have been marked as deleted, durably, before; resolves
   * when all is gone.
   */
  async destroy(live: LiveContainer): Promise<void> {
    if (this.#byRowKey.get(live.rowKey) !== live) return;
    const gone = new Promise<void>((resolve) => live.onGone.add(resolve));
    if (!live.ending) {
      this.#options.onUnreachable(live.row);
      if (live.launched) this.#options.driver.stop(live.launch, 0);
      else void this.#end(live, 'withdraw', { state: 'deleted', endTime: this.#options.clock.now() });
    }
    await gone;
  }

  /** What the engine has seen. */
  report(launchKey: string, observation: Observation): void {
    const live = this.#byLaunchKey.get(launchKey);
    if (live === undefined || live.ending) return;
    switch (observation.type) {
      case 'pending':
        if (live.row.phase === 'Pending' && live.row.state !== observation.reason) {
          live.row = { ...live.row, state: observation.reason };
          this.#options.onChange(live.row);
        }
        return;
      case 'running':
        this.#running(live, observation);
        return;
      case 'exiting': {
        const phase = nextPhase(live.row.phase, 'exiting');
        if (phase !== undefined) this.#change(live, { phase, state: 'the command has ended' });
        return;
      }
      case 'ended': {
        const { trigger, state } = renderEnd(observation.end);
        void this.#end(live, trigger, { state, endTime: observation.endedAt });
        return;
      }
      case 'absent':
        this.#absent(live);
        return;
    }
  }

  #running(live: LiveContainer, seen: Observation & { type: 'running' }): void {
    if (live.row.startTime !== undefined) return;
    const phase = nextPhase(live.row.phase, 'running');
    this.#change(live, {
      ...(phase === undefined ? {} : { phase, state: 'running' }),
      startTime: Math.max(seen.startedAt, live.row.createTime),
      nodeID: seen.nodeID,
      runID: seen.runID,
      host: seen.host,
    });
  }

  #absent(live: LiveContainer): void {
    const phase = nextPhase(live.row.phase, 'absent');
    if (phase !== 'Pending') {
      const state = 'the engine has no trace of it after a restart of the service';
      void this.#end(live, 'absent', { state, endTime: this.#options.clock.now() });
      return;
    }
    if (live.row.deleted) {
      void this.#end(live, 'withdraw', { state: 'deleted', endTime: this.#options.clock.now() });
      return;
    }
    void this.#relaunch(live).catch(this.#options.onFailure);
  }

  /** Proven never to have started: it takes its turn again, under a new launch key since the old one is closed for good. */
  async #relaunch(live: LiveContainer): Promise<void> {
    const { store, driver, queue } = this.#options;
    const old = live.row.launchKey;
    driver.ended(old);
    queue.release(live.rowKey);
    this.#byLaunchKey.delete(old);
    const { row, launch } = this.#options.renew(live.row);
    live.row = { ...row, phase: 'Pending', state: 'waiting for capacity' };
    live.launch = launch;
    live.launched = false;
    this.#byLaunchKey.set(row.launchKey, live);
    store.write([put(TABLES.containers, live.rowKey, live.row)]);
    await store.durable();
    await driver.remove(old);
    // Not before the row has let go of it: made anew after a crash, it could be taken for one that nobody has claimed.
    this.#options.removeDirectory(old);
    this.enqueue(live);
  }

  #change(live: LiveContainer, change: Partial<ContainerRow>): void {
    live.row = { ...live.row, ...change };
    this.#options.store.write([put(TABLES.containers, live.rowKey, live.row)]);
    this.#options.onChange(live.row);
  }

  async #end(live: LiveContainer, trigger: PhaseTrigger, end: { state: string; endTime: number }): Promise<void> {
    live.ending = true;
    this.#options.onUnreachable(live.row);
    this.#options.driver.ended(live.row.launchKey);
    this.#options.queue.release(live.rowKey);
    this.#options.queue.pump();
    try {
      if (live.row.deleted) await this.#sweep(live);
      else await this.#settle(live, endedRow(live.row, nextPhase(live.row.phase, trigger) ?? 'Unknown', end));
    } catch (error) {
      this.#options.onFailure(error);
    }
  }

  /** Makes the end durable, then tells it. */
  async #settle(live: LiveContainer, row: ContainerRow): Promise<void> {
    const { store } = this.#options;
    store.write([
      put(TABLES.containers, live.rowKey, row),
      remove(TABLES.liveContainers, live.rowKey),
      put(TABLES.endedContainers, `${timeKey(row.endTime!)}/${live.rowKey}`, true),
      put(TABLES.endedItems, live.rowKey, JSON.stringify(renderListItem(row, row.state))),
    ]);
    await store.durable();
    live.row = row;
    this.#forget(live);
    this.#options.onChange(row);
    await this.#options.driver.remove(row.launchKey);
  }

  async #sweep(live: LiveContainer): Promise<void> {
    await this.sweep(live.rowKey, live.row);
    this.#forget(live);
  }

  /** Removes what is left of a container that has ended and is marked as deleted; what fails is tried at a restart. */
  async sweep(rowKey: string, row: ContainerRow): Promise<void> {
    const { store, driver } = this.#options;
    // The mark of deletion may still be on its way: were the directory gone first, a crash would leave a container that
    // looks as if it had never started.
    await store.durable();
    await driver.remove(row.launchKey);
    if (!(await this.#options.cleanUp(row))) return;
    store.write([remove(TABLES.containers, rowKey), remove(TABLES.liveContainers, rowKey)]);
    await store.durable();
  }

  #forget(live: LiveContainer): void {
    this.#byRowKey.delete(live.rowKey);
    this.#byLaunchKey.delete(live.row.launchKey);
    this.ofAccount(live.row.accountID).delete(live.rowKey);
    for (const { volumeKey } of live.row.mounts) {
      const count = (this.#mounted.get(volumeKey) ?? 1) - 1;
      if (count === 0) this.#mounted.delete(volumeKey);
      else this.#mounted.set(volumeKey, count);
    }
    for (const listener of live.onGone) listener();
  }
}

function endedRow(
  row: ContainerRow,
  phase: KnownContainerPhase,
  end: { state: string; endTime: number },
): ContainerRow {
  const state = phase === 'Canceled' && row.phase === 'Canceling' ? canceledState(end.state) : end.state;
  return { ...row, phase, state, endTime: Math.max(end.endTime, row.startTime ?? row.createTime) };
}

function canceledState(end: string): string {
  return end === 'stopped' ? 'canceled' : `canceled; ${end}`;
}
