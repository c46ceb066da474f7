import { QUEUE_LABEL } from '@sluice/client';
import type { Observation } from '../engines/engine.ts';
import type { EngineDriver } from '../engines/engine-driver.ts';
import type { Clock } from '../protocol/clock.ts';
import type { Amount, ContainerRow } from '../store/container-row.ts';
import { isStoreFull } from '../store/lmdb-store.ts';
import { renderListItem } from '../store/render-list-item.ts';
import { type Change, put, remove, type Store } from '../store/store.ts';
import { TABLES, timeKey } from '../store/tables.ts';
import { CapacityQueue } from './capacity-queue.ts';
import { createLaunchKey } from './create-launch-key.ts';
import { endedRow, NEVER_STARTED } from './ended-row.ts';
import type { LiveContainer } from './live-container.ts';
import type { LiveIndex } from './live-index.ts';
import { LiveRegister } from './live-register.ts';
import { nextPhase, type PhaseTrigger } from './phase-table.ts';
import { renderEnd } from './render-end.ts';
import { findLostVolume, type LaunchSettings, resolveLaunch } from './resolve-launch.ts';
import { openSecretEnvs } from './secret-envs.ts';

/** What `LiveContainers` works on, and what it notifies. */
export interface LiveContainersOptions {
  readonly clusterID: string;
  readonly store: Store;
  readonly clock: Clock;
  readonly driver: EngineDriver;
  /** The cluster's capacity; undefined if it has no limit. */
  readonly capacity: Amount | undefined;
  readonly settings: LaunchSettings;
  /** Called when a container has changed visibly. */
  readonly onChange: (row: ContainerRow) => void;
  /** Called when a container has ended or is being removed, so that its ports are closed. Called before `onChange`, possibly twice. */
  readonly onUnreachable: (row: ContainerRow) => void;
  /** Removes the directory of a launch key that no row refers to. */
  readonly removeDirectory: (launchKey: string) => void;
  /** Removes everything outside the store; returns false if that failed. May be called again after a crash. */
  readonly cleanUp: (row: ContainerRow) => Promise<boolean>;
  /** Called when the store can no longer be written. */
  readonly onFailure: (error: unknown) => void;
}

/**
 * All live containers of a cluster, and the only place that changes their phases. Every change is written to the store. An
 * end is reported only when it is durable; other changes immediately, because the engine would report them again.
 */
export class LiveContainers {
  readonly #options: LiveContainersOptions;
  readonly #register = new LiveRegister();
  readonly #queue: CapacityQueue;

  constructor(options: LiveContainersOptions) {
    this.#options = options;
    this.#queue = new CapacityQueue(options.capacity, (rowKey) => this.#start(rowKey));
  }

  /** Containers that wait for capacity, and the capacity in use. */
  get queue(): Pick<CapacityQueue, 'length' | 'used' | 'pump'> {
    return this.#queue;
  }

  get(rowKey: string): LiveContainer | undefined {
    return this.#register.get(rowKey);
  }

  all(): Iterable<LiveContainer> {
    return this.#register.all();
  }

  containersOf(accountID: string): LiveIndex {
    return this.#register.containersOf(accountID);
  }

  /** The cores of the account's containers that have not ended, including waiting ones. */
  coresOf(accountID: string): number {
    return this.#register.coresOf(accountID);
  }

  isMounted(volumeKey: string): boolean {
    return this.#register.isMounted(volumeKey);
  }

  /** Makes volumes count as mounted until the returned function is called. */
  holdVolumes(volumeKeys: readonly string[]): () => void {
    this.#register.mount(volumeKeys, 1);
    return () => this.#register.mount(volumeKeys, -1);
  }

  /** Adds a new container. It waits for capacity after `created`, which makes its row durable; rejects if `created` does. */
  async create(rowKey: string, row: ContainerRow, created: Promise<void>): Promise<LiveContainer> {
    const live = this.#add({ rowKey, row, created, launched: false });
    try {
      await created;
    } catch (error) {
      this.#register.remove(live);
      throw error;
    }
    this.#enqueue(live);
    return live;
  }

  /** Adds a container of an earlier process, which may have launched it. */
  restore(rowKey: string, row: ContainerRow): LiveContainer {
    const live = this.#add({ rowKey, row, created: Promise.resolve(), launched: true });
    this.#queue.hold({ key: rowKey, amount: row.amount });
    return live;
  }

  #add(entry: Pick<LiveContainer, 'rowKey' | 'row' | 'created' | 'launched'>): LiveContainer {
    const launch = resolveLaunch(entry.row, this.#options.settings);
    const live = { ...entry, launch, ending: false, isCreated: entry.launched, onGone: new Set<() => void>() };
    this.#register.add(live);
    return live;
  }

  /** Marks the container as deleted, durably and with `changes`, then removes it. Has no effect if the disk is full. */
  async delete(live: LiveContainer, changes: readonly Change[]): Promise<void> {
    const { store } = this.#options;
    live.row = { ...live.row, deleted: true };
    live.marking = store.commit([put(TABLES.containers, live.rowKey, live.row), ...changes]).catch((error: unknown) => {
      const { deleted: _, ...row } = live.row;
      live.row = row;
      if (isStoreFull(error)) store.write([put(TABLES.containers, live.rowKey, row)]);
      throw error;
    });
    await live.marking;
    await this.destroy(live);
  }

  #enqueue(live: LiveContainer): void {
    live.isCreated = true;
    if (live.ending || live.launched) return;
    if (live.row.phase === 'Creating') live.row = { ...live.row, phase: 'Pending', state: 'waiting for capacity' };
    const { accountID, amount, spec } = live.row;
    const line = { account: accountID, name: spec.labels?.[QUEUE_LABEL] ?? '' };
    this.#queue.enqueue({ key: live.rowKey, amount, line });
    this.#queue.pump();
  }

  /** Called when there is capacity for the container. */
  #start(rowKey: string): void {
    const live = this.#register.get(rowKey);
    if (live === undefined || live.ending) return;
    live.launched = true;
    const state = this.#findStartFault(live.row);
    if (state !== undefined) {
      const end = { state, endTime: this.#options.clock.now() };
      // Later, since ending it admits others, and this is called for each of them.
      queueMicrotask(() => void this.#end(live, 'failed', end));
      return;
    }
    live.row = { ...live.row, state: 'starting' };
    this.#options.driver.submit(live.launch);
  }

  /** Why a container cannot be started as it was requested. */
  #findStartFault(row: ContainerRow): string | undefined {
    const { store, settings } = this.#options;
    const lost = findLostVolume(row, store);
    if (lost !== undefined) return `could not mount the volume '${lost}' because it was deleted`;
    const isOpen = openSecretEnvs(row, settings.sealer) !== undefined;
    return isOpen
      ? undefined
      : 'could not decrypt its secret variables: the key of the service has changed or is missing';
  }

  /** The container's `state`, computed for waiting ones. */
  stateOf(live: LiveContainer): string {
    if (live.row.phase !== 'Pending' || live.launched) return live.row.state;
    return this.#queue.reason(live.rowKey, this.#options.clusterID) ?? live.row.state;
  }

  /** Resolves when the request is durable; the container ends later. Resolves to false if it has ended in the meantime. */
  async cancel(live: LiveContainer, graceMs: number): Promise<boolean> {
    if (live.ending) {
      await new Promise<void>((resolve) => live.onGone.add(resolve));
      return false;
    }
    const { store, driver, clock } = this.#options;
    if (live.row.phase !== 'Canceling' && !live.launched) {
      const ended = this.#end(live, 'withdraw', { state: NEVER_STARTED, endTime: clock.now() });
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
      // Also if the disk is full: this container may be what fills it.
      driver.stop(live.launch, graceMs);
    }
    return true;
  }

  /**
   * Kills the container and removes everything of it. Its row must already be marked as deleted, durably. Resolves when the
   * removal is complete.
   */
  async destroy(live: LiveContainer): Promise<void> {
    if (this.#register.get(live.rowKey) !== live) return;
    const gone = new Promise<void>((resolve) => live.onGone.add(resolve));
    if (!live.ending) {
      this.#options.onUnreachable(live.row);
      if (live.launched) this.#options.driver.stop(live.launch, 0);
      else void this.#end(live, 'withdraw', { state: 'deleted', endTime: this.#options.clock.now() });
    }
    await gone;
  }

  /** Applies an observation of the engine. */
  report(launchKey: string, observation: Observation): void {
    const live = this.#register.launchedAs(launchKey);
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
      const state =
        phase === 'Canceled' ? NEVER_STARTED : 'the engine has no record of it after a restart of the service';
      void this.#end(live, 'absent', { state, endTime: this.#options.clock.now() });
      return;
    }
    if (live.row.deleted) {
      void this.#end(live, 'withdraw', { state: 'deleted', endTime: this.#options.clock.now() });
      return;
    }
    void this.#relaunch(live).catch(this.#options.onFailure);
  }

  /** Queues a container again that provably never started. It gets a new launch key, because the old one cannot be reused. */
  async #relaunch(live: LiveContainer): Promise<void> {
    const { store, driver, settings } = this.#options;
    const old = live.row.launchKey;
    driver.ended(old);
    this.#queue.release(live.rowKey);
    live.row = { ...live.row, ...createLaunchKey(live.row.id), phase: 'Pending', state: 'waiting for capacity' };
    live.launch = resolveLaunch(live.row, settings);
    live.launched = false;
    this.#register.rename(live, old);
    store.write([put(TABLES.containers, live.rowKey, live.row)]);
    await store.durable();
    await driver.remove(old);
    // Only after the row has the new key: otherwise, after a crash, a directory created again under the old key would look
    // unclaimed.
    this.#options.removeDirectory(old);
    this.#enqueue(live);
  }

  #change(live: LiveContainer, change: Partial<ContainerRow>): void {
    live.row = { ...live.row, ...change };
    // May wait, because the engine would report it again; `cancel` commits its own change.
    this.#options.store.write([put(TABLES.containers, live.rowKey, live.row)], { canWait: true });
    this.#options.onChange(live.row);
  }

  async #end(live: LiveContainer, trigger: PhaseTrigger, end: { state: string; endTime: number }): Promise<void> {
    live.ending = true;
    this.#options.onUnreachable(live.row);
    this.#options.driver.ended(live.row.launchKey);
    this.#queue.release(live.rowKey);
    this.#queue.pump();
    try {
      // Also decided for a deletion that is rejected: the container then ends like any other.
      await live.marking?.catch(() => {});
      if (live.row.deleted) await this.#sweep(live);
      else await this.#settle(live, endedRow(live.row, nextPhase(live.row.phase, trigger) ?? 'Unknown', end));
    } catch (error) {
      this.#options.onFailure(error);
    }
  }

  /** Makes the end durable, then reports it. */
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
    this.#register.remove(live);
    this.#options.onChange(row);
    await this.#options.driver.remove(row.launchKey);
  }

  async #sweep(live: LiveContainer): Promise<void> {
    await this.sweep(live.rowKey, live.row);
    this.#register.remove(live);
  }

  /** Removes the files and the row of a container that has ended and is marked as deleted. A failure is retried at a restart. */
  async sweep(rowKey: string, row: ContainerRow): Promise<void> {
    const { store, driver } = this.#options;
    // The deletion mark must be durable first: if the directory were removed before it, a crash would leave a container that
    // looks as if it had never started.
    await store.durable();
    await driver.remove(row.launchKey);
    if (!(await this.#options.cleanUp(row))) return;
    store.write([remove(TABLES.containers, rowKey), remove(TABLES.liveContainers, rowKey)]);
    await store.durable();
  }
}
