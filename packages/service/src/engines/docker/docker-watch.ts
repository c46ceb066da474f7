import { setTimeout as pause } from 'node:timers/promises';
import { type StorageAccess, StorageSilent, tryInThread } from '../../storage/storage-access.ts';
import { EngineError, type EngineSink, type Launch } from '../engine.ts';
import { forEachLimit } from '../for-each-limit.ts';
import type { DockerApi, DockerContainer, DockerListItem } from './docker-api.ts';
import { createTrackedContainer, type TrackedContainer } from './docker-container.ts';
import { openEvents } from './docker-events.ts';
import { followDockerLog } from './docker-log.ts';
import { dockerOutcome, hasEnded, startTime } from './docker-outcome.ts';
import { type DockerRecord, readRecord } from './docker-records.ts';
import { CLUSTER_LABEL, KEY_LABEL } from './docker-request.ts';

/** Delay before reconnecting to a daemon that has closed the connection. */
const RECONNECT_MS = 500;

/** The daemon's list, by key. */
type Listed = ReadonlyMap<string | undefined, DockerListItem>;

interface Start {
  readonly id: string;
  readonly startedAt: number | undefined;
}

/** The cluster to watch, and where to report. */
export interface DockerWatchOptions {
  readonly clusterID: string;
  readonly api: DockerApi;
  readonly sink: EngineSink;
  /** Of the containers' directories. */
  readonly storage: StorageAccess;
}

/**
 * Reports changes of the engine's containers to the sink, based on the daemon's events and lists and on the records of first
 * processes.
 */
export class DockerWatch {
  readonly #clusterID: string;
  readonly #api: DockerApi;
  readonly #sink: EngineSink;
  readonly #storage: StorageAccess;
  readonly #tracked = new Map<string, TrackedContainer>();
  /** Keys that a sweep is inspecting at the moment. */
  readonly #looking = new Set<string>();
  readonly #closing = new AbortController();
  #poll: NodeJS.Timeout | undefined;

  constructor({ clusterID, api, sink, storage }: DockerWatchOptions) {
    this.#clusterID = clusterID;
    this.#api = api;
    this.#sink = sink;
    this.#storage = storage;
  }

  /** Follows the daemon's events, and lists the containers every `intervalMs` in case an event was missed. */
  start(intervalMs: number): void {
    void this.#listen();
    this.#poll = setInterval(() => void this.#sweep().catch(() => undefined), intervalMs).unref();
  }

  /** Stops watching. Resolves when all followed logs are closed. */
  async close(): Promise<void> {
    this.#closing.abort();
    clearInterval(this.#poll);
    await Promise.allSettled([...this.#tracked.values()].map((entry) => entry.log));
  }

  get(key: string): TrackedContainer | undefined {
    return this.#tracked.get(key);
  }

  /** Returns the container of this launch, and tracks it from now on. */
  track(launch: Launch): TrackedContainer {
    const known = this.#tracked.get(launch.key);
    if (known) return known;
    const entry = createTrackedContainer(launch);
    this.#tracked.set(launch.key, entry);
    return entry;
  }

  forget(key: string): void {
    this.#tracked.delete(key);
  }

  #follow(entry: TrackedContainer): void {
    entry.log ??= followDockerLog(this.#api, entry.id, {
      logPath: entry.launch.logPath,
      limitBytes: entry.launch.logLimitBytes,
      storage: this.#storage,
      signal: this.#closing.signal,
    }).catch(() => {
      // The daemon or the container ended; `#settle` follows again unless the container has ended.
      entry.log = undefined;
    });
  }

  /** A followed log may end before all output was sent (often with Podman, occasionally with Docker): reads the rest. */
  async #readRest({ id, launch: { logPath, logLimitBytes: limitBytes } }: TrackedContainer): Promise<void> {
    const options = { logPath, limitBytes, storage: this.#storage, signal: this.#closing.signal, follow: false };
    await followDockerLog(this.#api, id, options).catch(() => {});
  }

  #readRecord({ launch }: TrackedContainer): Promise<DockerRecord | undefined> {
    return tryInThread(this.#storage, () => readRecord(launch.directory));
  }

  /** Reports the container's current state. `container` is the daemon's description; undefined if the daemon gave none. */
  async #settle(entry: TrackedContainer, container: DockerContainer | undefined): Promise<void> {
    const state = container?.State;
    const record = await this.#readRecord(entry);
    if (entry.ended || this.#closing.signal.aborted) return;
    if (container) entry.id = container.Id;
    const keepsOwnLog = record !== undefined;
    if (keepsOwnLog) entry.log ??= Promise.resolve();
    else if (container && state?.Status !== 'created') this.#follow(entry);
    if (container) this.#reportRunning(entry, { id: container.Id, startedAt: record?.startedAt ?? startTime(state) });
    const ended = dockerOutcome({ state, record, stopped: entry.stopped, killed: entry.killed });
    if (ended === undefined) return;
    entry.ended = true;
    this.#sink.report(entry.launch.key, { type: 'exiting' });
    await entry.log;
    if (!keepsOwnLog) await this.#readRest(entry);
    if (this.#closing.signal.aborted) return;
    // The daemon records the start with a delay: a short container may have ended before.
    const endedAt = Math.max(ended.endedAt, entry.startedAt);
    this.#sink.report(entry.launch.key, { type: 'ended', endedAt, end: ended.end });
    this.#tracked.delete(entry.launch.key);
  }

  #reportRunning(entry: TrackedContainer, { id, startedAt }: Start): void {
    if (entry.running || startedAt === undefined) return;
    entry.running = true;
    entry.startedAt = startedAt;
    this.#sink.report(entry.launch.key, {
      type: 'running',
      startedAt,
      nodeID: 'docker',
      runID: id.slice(0, 12),
      host: '127.0.0.1',
    });
  }

  /** Reports the state according to the record and the daemon. Throws if the daemon does not respond. */
  async look(key: string): Promise<void> {
    const entry = this.#tracked.get(key);
    if (!entry) return;
    // Usually the record suffices, which saves a request to the daemon.
    if (entry.running) await this.#settle(entry, undefined);
    if (entry.ended) return;
    const container = await this.#api.inspect(entry.id);
    if (container) await this.#settle(entry, container);
  }

  /** The cluster's containers from the daemon, by key. */
  async list(): Promise<Listed> {
    const items = await this.#api.list(`${CLUSTER_LABEL}=${this.#clusterID}`);
    return new Map(items.map((item) => [item.Labels[KEY_LABEL], item]));
  }

  /** Checks all containers that may have changed without an event. */
  async #sweep(): Promise<void> {
    let listed: Listed;
    try {
      listed = await this.list();
      this.#noteAnswer(undefined);
    } catch (error) {
      this.#noteAnswer(error);
      // The daemon does not respond. Containers continue, and those that have ended have a record.
      await forEachLimit([...this.#tracked.values()], async (entry) => {
        if (entry.running) await this.#settle(entry, undefined).catch(() => undefined);
      });
      return;
    }
    await forEachLimit([...this.#tracked], async ([key, entry]) => {
      const state = listed.get(key)?.State;
      const isNews = hasEnded(state ?? '') || (state !== 'created' && (!entry.running || !entry.log));
      // If the daemon hangs on one container, it is not asked about it again, and the others are not delayed.
      if (this.#looking.has(key)) return;
      this.#looking.add(key);
      try {
        if (state === undefined) await this.#vanished(entry);
        else if (isNews) await this.look(key);
      } catch {
        // The next sweep tries again.
      } finally {
        this.#looking.delete(key);
      }
    });
  }

  /** Handles a started container that the daemon no longer knows: another client removed it, and only its record is left. */
  async #vanished(entry: TrackedContainer): Promise<void> {
    if (!(entry.started || entry.running) || (await this.#api.inspect(entry.id))) return;
    await this.#settle(entry, undefined);
    if (entry.ended) return;
    entry.ended = true;
    const reason = 'the container was removed from Docker Engine from outside';
    this.#sink.report(entry.launch.key, { type: 'ended', endedAt: Date.now(), end: { kind: 'fault', reason } });
    this.#tracked.delete(entry.launch.key);
  }

  /** Only a missing response concerns the whole engine; `undefined`: the daemon has responded. */
  #noteAnswer(error: unknown): void {
    if (this.#closing.signal.aborted || !(error === undefined || error instanceof EngineError)) return;
    this.#sink.answers?.(error?.message);
  }

  async #listen(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      try {
        const events = await openEvents(this.#api, { clusterID: this.#clusterID, signal: this.#closing.signal });
        await this.#sweep();
        for await (const { key, isKill } of events) {
          const entry = this.#tracked.get(key);
          if (entry && isKill && !entry.stopped) entry.killed = true;
          // Without its record, the next sweep looks at it again.
          await this.look(key).catch(ignoreSilence);
        }
      } catch (error) {
        // The daemon does not respond or was restarted: the next sweep detects the changes.
        this.#noteAnswer(error);
      }
      await pause(RECONNECT_MS, undefined, { signal: this.#closing.signal }).catch(() => {});
    }
  }

  /** Adopts a container whose start the daemon has confirmed. Throws if the daemon does not describe it in time. */
  async adoptStarted(entry: TrackedContainer): Promise<void> {
    entry.started = true;
    await this.adopt(entry, await this.#api.inspect(entry.id));
  }

  /** Adopts a container whose start was requested, by this or by an earlier service. */
  async adopt(entry: TrackedContainer, container: DockerContainer | undefined): Promise<void> {
    entry.started = true;
    if (container) await this.#settle(entry, container);
    else await this.#vanished(entry);
  }

  /**
   * Like `adopt`, for a container with its entry in the daemon's list. If it runs and its record has the start time, no
   * request is needed.
   */
  async adoptListed(entry: TrackedContainer, item: DockerListItem | undefined): Promise<void> {
    if (item === undefined) return await this.adopt(entry, undefined);
    entry.id = item.Id;
    const record = item.State === 'running' ? await this.#readRecord(entry) : undefined;
    if (record?.startedAt === undefined) return await this.adopt(entry, await this.#api.inspect(entry.id));
    this.#reportRunning(entry, { id: item.Id, startedAt: record.startedAt });
    await this.#settle(entry, undefined);
  }
}

/** Rethrows all errors but that of a storage that does not answer. */
export function ignoreSilence(error: unknown): void {
  if (!(error instanceof StorageSilent)) throw error;
}
