import { setTimeout as pause } from 'node:timers/promises';
import type { EngineSink, Launch } from '../engine.ts';
import { forEachLimit } from '../for-each-limit.ts';
import type { DockerApi, DockerContainer, DockerListItem } from './docker-api.ts';
import { createTrackedContainer, type TrackedContainer } from './docker-container.ts';
import { openEvents } from './docker-events.ts';
import { followDockerLog } from './docker-log.ts';
import { dockerOutcome, hasEnded, startTime } from './docker-outcome.ts';
import { readRecord } from './docker-records.ts';
import { CLUSTER_LABEL, KEY_LABEL } from './docker-request.ts';

/** How long until a daemon that went away is asked again. */
const RECONNECT_MS = 500;

/** What the list says, by key. */
type Listed = ReadonlyMap<string | undefined, DockerListItem>;

interface Start {
  readonly id: string;
  readonly startedAt: number | undefined;
}

export interface DockerWatchOptions {
  readonly clusterID: string;
  readonly api: DockerApi;
  readonly sink: EngineSink;
}

/**
 * What becomes of the engine's containers: from the daemon's events and lists, and from the records of their first
 * processes, reports to the sink.
 */
export class DockerWatch {
  readonly #clusterID: string;
  readonly #api: DockerApi;
  readonly #sink: EngineSink;
  readonly #tracked = new Map<string, TrackedContainer>();
  /** What a sweep asks the daemon about at the moment. */
  readonly #looking = new Set<string>();
  readonly #closing = new AbortController();
  #poll: NodeJS.Timeout | undefined;

  constructor({ clusterID, api, sink }: DockerWatchOptions) {
    this.#clusterID = clusterID;
    this.#api = api;
    this.#sink = sink;
  }

  /** Follows the daemon's events, and lists its containers every `pollMs` in case one was missed. */
  start(pollMs: number): void {
    void this.#listen();
    this.#poll = setInterval(() => void this.#sweep().catch(() => undefined), pollMs).unref();
  }

  /** Resolves when the logs that are followed are closed. */
  async close(): Promise<void> {
    this.#closing.abort();
    clearInterval(this.#poll);
    await Promise.allSettled([...this.#tracked.values()].map((entry) => entry.log));
  }

  get(key: string): TrackedContainer | undefined {
    return this.#tracked.get(key);
  }

  /** The container of this launch, tracked from now on. */
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
      signal: this.#closing.signal,
    }).catch(() => {
      // The daemon went away or the container did; `#settle` follows again as long as it has not ended.
      entry.log = undefined;
    });
  }

  /** A followed log may end with the container, or with an error, before all of it was sent: Podman's often, Docker's now and then. */
  async #readRest({ id, launch: { logPath, logLimitBytes: limitBytes } }: TrackedContainer): Promise<void> {
    await followDockerLog(this.#api, id, { logPath, limitBytes, signal: this.#closing.signal, follow: false }).catch(
      () => {},
    );
  }

  /** Reports what is true of a container now. `container` is what the daemon says, undefined when it says nothing. */
  async #settle(entry: TrackedContainer, container: DockerContainer | undefined): Promise<void> {
    const state = container?.State;
    const record = await readRecord(entry.launch.directory);
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
    // The daemon notes a start after it has happened: a short container may have ended by then.
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

  /** Reports what its record and the daemon say now. */
  async look(key: string): Promise<void> {
    const entry = this.#tracked.get(key);
    if (!entry) return;
    // For most ends the record is enough, which saves the daemon a request.
    if (entry.running) await this.#settle(entry, undefined);
    if (entry.ended) return;
    const container = await this.#api.inspect(entry.id);
    if (container) await this.#settle(entry, container);
  }

  /** The cluster's containers as the daemon lists them. */
  async list(): Promise<Listed> {
    const items = await this.#api.list(`${CLUSTER_LABEL}=${this.#clusterID}`);
    return new Map(items.map((item) => [item.Labels[KEY_LABEL], item]));
  }

  /** Checks everything that may have changed while no events came. */
  async #sweep(): Promise<void> {
    let listed: Listed;
    try {
      listed = await this.list();
    } catch {
      // Away. Containers run on, and what has ended meanwhile has its own record.
      await forEachLimit([...this.#tracked.values()], async (entry) => {
        if (entry.running) await this.#settle(entry, undefined).catch(() => undefined);
      });
      return;
    }
    await forEachLimit([...this.#tracked], async ([key, entry]) => {
      const state = listed.get(key)?.State;
      const isNews = hasEnded(state ?? '') || (state !== 'created' && (!entry.running || !entry.log));
      // A daemon that hangs over one container is not asked about it again, and delays no other.
      if (this.#looking.has(key)) return;
      this.#looking.add(key);
      try {
        if (state === undefined) await this.#vanished(entry);
        else if (isNews) await this.look(key);
      } catch {
        // The next sweep looks again.
      } finally {
        this.#looking.delete(key);
      }
    });
  }

  /** A started container that the daemon no longer knows: another client removed it, and only its own record is left. */
  async #vanished(entry: TrackedContainer): Promise<void> {
    if (!entry.running || (await this.#api.inspect(entry.id))) return;
    await this.#settle(entry, undefined);
    if (entry.ended) return;
    entry.ended = true;
    const reason = 'the container was removed from Docker Engine from outside';
    this.#sink.report(entry.launch.key, { type: 'ended', endedAt: Date.now(), end: { kind: 'fault', reason } });
    this.#tracked.delete(entry.launch.key);
  }

  async #listen(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      try {
        const events = await openEvents(this.#api, { clusterID: this.#clusterID, signal: this.#closing.signal });
        await this.#sweep();
        for await (const { key, isKill } of events) {
          const entry = this.#tracked.get(key);
          if (entry && isKill && !entry.stopped) entry.killed = true;
          await this.look(key);
        }
      } catch {
        // The daemon is away, or has just come back: the next sweep finds what has happened meanwhile.
      }
      await pause(RECONNECT_MS, undefined, { signal: this.#closing.signal }).catch(() => {});
    }
  }

  /** For a container that was asked to start, now or by an earlier service. */
  async adopt(entry: TrackedContainer, container: DockerContainer | undefined): Promise<void> {
    if (container) return await this.#settle(entry, container);
    entry.running = true;
    await this.#vanished(entry);
  }

  /** The same for one that `item` of the list is about: the record is enough where it tells the start, and the list that it lives. */
  async adoptListed(entry: TrackedContainer, item: DockerListItem | undefined): Promise<void> {
    if (item === undefined) return await this.adopt(entry, undefined);
    entry.id = item.Id;
    const record = item.State === 'running' ? await readRecord(entry.launch.directory) : undefined;
    if (record?.startedAt === undefined) return await this.adopt(entry, await this.#api.inspect(entry.id));
    this.#reportRunning(entry, { id: item.Id, startedAt: record.startedAt });
    await this.#settle(entry, undefined);
  }
}
