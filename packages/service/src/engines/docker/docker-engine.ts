import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Engine, EngineSink, HardwareModels, Launch, LaunchOptions } from '../engine.ts';
import { exists } from '../exists.ts';
import { checkImageName } from '../image-name.ts';
import { sideBySide } from '../side-by-side.ts';
import { asEngineError } from './as-engine-error.ts';
import {
  ACTS_WITHIN_MS,
  connectDocker,
  type DockerApi,
  type DockerContainer,
  type DockerListItem,
} from './docker-api.ts';
import type { DockerConfig } from './docker-config.ts';
import { openEvents } from './docker-events.ts';
import { findFirstProcess } from './docker-first-process.ts';
import { findImageDigest } from './docker-image-digest.ts';
import { followDockerLog } from './docker-log.ts';
import { dockerModels } from './docker-models.ts';
import { dockerEnd, hasEnded, startTime } from './docker-outcome.ts';
import { readRecord } from './docker-records.ts';
import { preventStart, removeDockerContainer } from './docker-remove.ts';
import { CLUSTER_LABEL, dockerName, KEY_LABEL } from './docker-request.ts';
import { ignoring, mayHaveStarted, startDockerContainer } from './docker-start.ts';

/** Written before a stop is asked for, so that the end is known as ours after a restart too. */
const STOP_MARK = 'docker-stop';
/** How long until a daemon that went away is asked again. */
const RECONNECT_MS = 500;

interface Tracked {
  readonly launch: Launch;
  /** What the daemon calls it, whatever somebody renames it to; until that is known, the name that it was created with. */
  id: string;
  stopped: boolean;
  /** Another client has had the daemon send it a signal that ends most programs. */
  killed: boolean;
  running: boolean;
  /** As reported; 0 before that. */
  startedAt: number;
  ended: boolean;
  log: Promise<void> | undefined;
}

export interface DockerEngineOptions {
  readonly clusterID: string;
  /** The program that containers start with. Default: where the build puts it, if it could. */
  readonly firstProcessPath?: string;
}

/**
 * Containers of Docker Engine, or of Podman through its compatible socket. A first process of ours in each writes how
 * it ended; the daemon's event stream and a list every `pollMs` say when to look. The daemon's own restart loses nothing
 * where `live-restore` is on.
 */
export function createDockerEngine(config: DockerConfig, options: DockerEngineOptions): Engine {
  const { clusterID } = options;
  const tracked = new Map<string, Tracked>();
  const launching = new Map<string, Promise<void>>();
  /** What a sweep asks the daemon about just now. */
  const looking = new Set<string>();
  const closing = new AbortController();
  let api: DockerApi;
  let sink: EngineSink;
  let firstProcess: string | undefined;
  let models: HardwareModels = {};
  let poll: NodeJS.Timeout | undefined;

  function track(launch: Launch): Tracked {
    const known = tracked.get(launch.key);
    if (known) return known;
    const entry = {
      launch,
      id: dockerName(launch.key),
      stopped: false,
      killed: false,
      running: false,
      startedAt: 0,
      ended: false,
      log: undefined,
    };
    tracked.set(launch.key, entry);
    return entry;
  }

  function follow(entry: Tracked): void {
    entry.log ??= followDockerLog(api, entry.id, {
      logPath: entry.launch.logPath,
      limitBytes: entry.launch.logLimitBytes,
      signal: closing.signal,
    }).catch(() => {
      // The daemon went away or the container did; `settle` follows again as long as it has not ended.
      entry.log = undefined;
    });
  }

  /** A followed log may end with the container, or with an error, before all of it was sent: Podman's often, Docker's now and then. */
  async function readRest({ id, launch: { logPath, logLimitBytes: limitBytes } }: Tracked): Promise<void> {
    await followDockerLog(api, id, { logPath, limitBytes, signal: closing.signal, follow: false }).catch(() => {});
  }

  /** Reports what is true of a container now. `container` is what the daemon says, undefined when it says nothing. */
  async function settle(entry: Tracked, container: DockerContainer | undefined): Promise<void> {
    const state = container?.State;
    const record = await readRecord(entry.launch.directory);
    if (entry.ended || closing.signal.aborted) return;
    if (container) entry.id = container.Id;
    const keepsOwnLog = record !== undefined;
    if (keepsOwnLog) entry.log ??= Promise.resolve();
    else if (container && state?.Status !== 'created') follow(entry);
    if (container) reportRunning(entry, { id: container.Id, startedAt: record?.startedAt ?? startTime(state) });
    const ended = dockerEnd({ state, record, stopped: entry.stopped, killed: entry.killed });
    if (ended === undefined) return;
    entry.ended = true;
    sink.report(entry.launch.key, { type: 'exiting' });
    await entry.log;
    if (!keepsOwnLog) await readRest(entry);
    if (closing.signal.aborted) return;
    // The daemon notes a start after it has happened: a short container may have ended by then.
    const endedAt = Math.max(ended.endedAt, entry.startedAt);
    sink.report(entry.launch.key, { type: 'ended', endedAt, end: ended.end });
    tracked.delete(entry.launch.key);
  }

  function reportRunning(entry: Tracked, { id, startedAt }: Start): void {
    if (entry.running || startedAt === undefined) return;
    entry.running = true;
    entry.startedAt = startedAt;
    sink.report(entry.launch.key, {
      type: 'running',
      startedAt,
      nodeID: 'docker',
      runID: id.slice(0, 12),
      host: '127.0.0.1',
    });
  }

  async function look(key: string): Promise<void> {
    const entry = tracked.get(key);
    if (!entry) return;
    // The record alone will do for most ends; the daemon has enough to do.
    if (entry.running) await settle(entry, undefined);
    if (entry.ended) return;
    const container = await api.inspect(entry.id);
    if (container) await settle(entry, container);
  }

  async function list(): Promise<Listed> {
    const items = await api.list(`${CLUSTER_LABEL}=${clusterID}`);
    return new Map(items.map((item) => [item.Labels[KEY_LABEL], item]));
  }

  /** Looks at everything that may have changed while nobody listened. */
  async function sweep(): Promise<void> {
    let listed: Listed;
    try {
      listed = await list();
    } catch {
      // Away. Containers run on, and what has ended meanwhile has said so itself.
      await sideBySide([...tracked.values()], async (entry) => {
        if (entry.running) await settle(entry, undefined).catch(() => undefined);
      });
      return;
    }
    await sideBySide([...tracked], async ([key, entry]) => {
      const state = listed.get(key)?.State;
      const isNews = hasEnded(state ?? '') || (state !== 'created' && (!entry.running || !entry.log));
      // A daemon that hangs over one container is not asked for it ever more, and holds up no other.
      if (looking.has(key)) return;
      looking.add(key);
      try {
        if (state === undefined) await vanished(entry);
        else if (isNews) await look(key);
      } catch {
        // The next sweep looks again.
      } finally {
        looking.delete(key);
      }
    });
  }

  /** A started container that the daemon no longer knows: someone removed it, and its own record is all that is left. */
  async function vanished(entry: Tracked): Promise<void> {
    if (!entry.running || (await api.inspect(entry.id))) return;
    await settle(entry, undefined);
    if (entry.ended) return;
    entry.ended = true;
    const reason = 'the container was removed from Docker Engine from outside';
    sink.report(entry.launch.key, { type: 'ended', endedAt: Date.now(), end: { kind: 'fault', reason } });
    tracked.delete(entry.launch.key);
  }

  async function listen(): Promise<void> {
    while (!closing.signal.aborted) {
      try {
        const events = await openEvents(api, { clusterID, signal: closing.signal });
        await sweep();
        for await (const { key, isKill } of events) {
          const entry = tracked.get(key);
          if (entry && isKill && !entry.stopped) entry.killed = true;
          await look(key);
        }
      } catch {
        // The daemon is away, or has just come back: the next sweep finds what has happened meanwhile.
      }
      await pause(RECONNECT_MS, undefined, { signal: closing.signal }).catch(() => {});
    }
  }

  async function bringUp(launch: Launch, { signal }: LaunchOptions): Promise<void> {
    const entry = track(launch);
    const onProgress = (reason: string) => sink.report(launch.key, { type: 'pending', reason });
    try {
      await startDockerContainer(api, launch, { config, firstProcess, onProgress, signal });
      await takeStock(entry, await api.inspect(dockerName(launch.key)));
    } catch (error) {
      tracked.delete(launch.key);
      throw asEngineError(error);
    }
  }

  /** `item` is what the list says of it. The record alone will do where it tells the start, and the list that it lives. */
  async function takeUp(launch: Launch, item: DockerListItem | undefined): Promise<void> {
    const entry = track(launch);
    entry.stopped = await exists(join(launch.directory, STOP_MARK));
    const mayHave = await mayHaveStarted(launch);
    // The daemon may just be starting it for an earlier service.
    const isCreated = item?.State === 'created' && (!mayHave || (await preventStart(api, launch)));
    const neverStarted = item ? isCreated : !mayHave;
    if (neverStarted) {
      tracked.delete(launch.key);
      return sink.report(launch.key, { type: 'absent' });
    }
    // What cannot be seen now a sweep sees later: a daemon may hang over one container, and the others must be served.
    await takeStockOf(entry, item).catch(() => undefined);
  }

  async function takeStockOf(entry: Tracked, item: DockerListItem | undefined): Promise<void> {
    if (item === undefined) return await takeStock(entry, undefined);
    entry.id = item.Id;
    const record = item.State === 'running' ? await readRecord(entry.launch.directory) : undefined;
    if (record?.startedAt === undefined) return await takeStock(entry, await api.inspect(entry.id));
    reportRunning(entry, { id: item.Id, startedAt: record.startedAt });
    await settle(entry, undefined);
  }

  /** For a container that was asked to start, now or by an earlier service. */
  async function takeStock(entry: Tracked, container: DockerContainer | undefined): Promise<void> {
    if (container) return await settle(entry, container);
    entry.running = true;
    await vanished(entry);
  }

  return {
    features: ['read-only-mounts', 'image-digests'],
    models: () => models,
    hidesHost: true,

    async open(target) {
      sink = target;
      firstProcess = await findFirstProcess(options.firstProcessPath);
      api = await connectDocker(config.socketPath);
      // Not waited for: a driver that is asked for its cards may take seconds.
      void dockerModels(api).then((found) => {
        models = found;
      });
      void listen();
      poll = setInterval(() => void sweep().catch(() => undefined), config.pollMs);
      poll.unref();
    },

    async launch(launch, launchOptions = {}) {
      const under =
        launching.get(launch.key) ?? bringUp(launch, launchOptions).finally(() => launching.delete(launch.key));
      launching.set(launch.key, under);
      await under;
    },

    async recover(launches) {
      if (launches.length === 0) return;
      const listed = await list();
      await sideBySide(launches, (launch) => takeUp(launch, listed.get(launch.key)));
    },

    async stop(key, { graceMs }) {
      // A start that is under way would come after the stop.
      await launching.get(key)?.catch(() => undefined);
      // What has ended by itself keeps its own verdict.
      await look(key);
      const entry = tracked.get(key);
      if (!entry || entry.ended) return;
      entry.stopped = true;
      // Best effort: what is to be stopped may be what fills the disk.
      await writeFile(join(entry.launch.directory, STOP_MARK), '').catch(() => undefined);
      // The daemon keeps the deadline, also without us; of two stops the one that kills first counts.
      const query = { t: String(Math.ceil(graceMs / 1000)) };
      const answersWithin = graceMs + ACTS_WITHIN_MS;
      await ignoring([304, 404], api.call('POST', `/containers/${entry.id}/stop`, { query, answersWithin }));
      await look(key);
    },

    async remove(key) {
      tracked.delete(key);
      await removeDockerContainer(api, key);
    },

    async findProcess(key) {
      const container = await api.inspect(tracked.get(key)?.id ?? dockerName(key));
      return container && (await processOf(container));
    },

    checkImage: checkImageName,
    async resolveImage(image, { accountID }) {
      try {
        return await findImageDigest(api, image, { config, accountID });
      } catch (error) {
        throw asEngineError(error);
      }
    },

    async close() {
      closing.abort();
      clearInterval(poll);
      await Promise.allSettled([...tracked.values()].map((entry) => entry.log));
      await api?.close();
    },
  };
}

/** The daemon may count the processes of another machine, or of another PID namespace: ours is in the container's cgroup. */
async function processOf({ Id, State: { Pid = 0 } }: DockerContainer): Promise<number | undefined> {
  const cgroups = Pid > 0 ? await readFile(`/proc/${Pid}/cgroup`, 'utf8').catch(() => '') : '';
  return cgroups.includes(Id) ? Pid : undefined;
}

/** What the list says, by key. */
type Listed = ReadonlyMap<string | undefined, DockerListItem>;

interface Start {
  readonly id: string;
  readonly startedAt: number | undefined;
}
