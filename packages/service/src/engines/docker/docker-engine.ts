import { access, realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Engine, EngineError, type EngineSink, type Launch, type Mount } from '../engine.ts';
import { connectDocker, type DockerApi, type DockerContainer, DockerError } from './docker-api.ts';
import type { DockerConfig } from './docker-config.ts';
import { CLUSTER_LABEL, dockerContainer, dockerName, keyOfName } from './docker-container.ts';
import { dockerEnd, hasEnded } from './docker-end.ts';
import { ensureDockerImage } from './docker-image.ts';
import { followDockerLog } from './docker-log.ts';

/** Written before the start is asked for: without it, a container that the daemon does not know never ran. */
const START_MARK = 'docker-start';
/** Written before a stop is asked for, so that the end is known as ours after a restart too. */
const STOP_MARK = 'docker-stop';

interface Tracked {
  readonly launch: Launch;
  readonly abort: AbortController;
  stopped: boolean;
  running: boolean;
  ended: boolean;
  log: Promise<void> | undefined;
}

/**
 * Containers of Docker Engine, or of Podman through its compatible socket. Ends come from the daemon's event stream;
 * a list every `pollMs` catches what it missed. The daemon's own restart loses nothing where `live-restore` is on.
 */
export function createDockerEngine(config: DockerConfig, clusterID: string): Engine {
  const tracked = new Map<string, Tracked>();
  const launching = new Map<string, Promise<void>>();
  const closing = new AbortController();
  let api: DockerApi;
  let sink: EngineSink;
  let poll: NodeJS.Timeout | undefined;

  function track(launch: Launch): Tracked {
    const known = tracked.get(launch.key);
    if (known) return known;
    const entry = {
      launch,
      abort: new AbortController(),
      stopped: false,
      running: false,
      ended: false,
      log: undefined,
    };
    tracked.set(launch.key, entry);
    return entry;
  }

  function follow(entry: Tracked): void {
    entry.log ??= followDockerLog(api, dockerName(entry.launch.key), {
      logPath: entry.launch.logPath,
      signal: closing.signal,
    }).catch(() => {
      // The daemon went away or the container did; `settle` follows again as long as it has not ended.
      entry.log = undefined;
    });
  }

  /** Podman ends a followed log with the container, also when not all of it was sent. */
  async function readRest({ key, logPath }: Launch): Promise<void> {
    await followDockerLog(api, dockerName(key), { logPath, signal: closing.signal, follow: false }).catch(() => {});
  }

  /** Reports what the daemon says of a container now. */
  async function settle(entry: Tracked, container: DockerContainer): Promise<void> {
    const { State } = container;
    if (entry.ended || State.Status === 'created') return;
    follow(entry);
    if (!entry.running && !State.StartedAt.startsWith('0001-')) {
      entry.running = true;
      sink.report(entry.launch.key, {
        type: 'running',
        startedAt: Date.parse(State.StartedAt),
        nodeID: 'docker',
        runID: container.Id.slice(0, 12),
        host: '127.0.0.1',
      });
    }
    if (!hasEnded(State.Status)) return;
    entry.ended = true;
    sink.report(entry.launch.key, { type: 'exiting' });
    await entry.log;
    if (api.isPodman) await readRest(entry.launch);
    if (closing.signal.aborted) return;
    const end = dockerEnd(State, entry.stopped);
    sink.report(entry.launch.key, { type: 'ended', endedAt: endTime(State), end });
    tracked.delete(entry.launch.key);
  }

  async function look(key: string): Promise<void> {
    const entry = tracked.get(key);
    const container = entry && (await api.inspect(dockerName(key)));
    if (entry && container) await settle(entry, container);
  }

  /** Looks at everything that may have changed while nobody listened. */
  async function sweep(): Promise<void> {
    const listed = await api.list(`${CLUSTER_LABEL}=${clusterID}`);
    const states = new Map(listed.map((item) => [keyOfName(item.Names[0] ?? ''), item.State]));
    for (const [key, entry] of tracked) {
      const state = states.get(key);
      if (state === undefined) await vanished(entry);
      else if (hasEnded(state) || (state === 'running' && (!entry.running || !entry.log))) await look(key);
    }
  }

  /** A started container that the daemon no longer knows: someone removed it, and nothing says how it ended. */
  async function vanished(entry: Tracked): Promise<void> {
    if (!entry.running || (await api.inspect(dockerName(entry.launch.key)))) return;
    const reason = 'the container was removed from Docker Engine from outside';
    sink.report(entry.launch.key, { type: 'ended', endedAt: Date.now(), end: { kind: 'fault', reason } });
    tracked.delete(entry.launch.key);
  }

  async function listen(): Promise<void> {
    while (!closing.signal.aborted) {
      try {
        const filters = JSON.stringify({ type: ['container'], label: [`${CLUSTER_LABEL}=${clusterID}`] });
        const events = await api.stream('GET', '/events', { query: { filters }, signal: closing.signal });
        await sweep();
        for await (const key of eventKeys(events)) await look(key);
      } catch {
        // The daemon is away; containers run on, and the next sweep finds what has ended meanwhile.
      }
      await pause(500, closing.signal);
    }
  }

  async function bringUp(launch: Launch): Promise<void> {
    const entry = track(launch);
    try {
      await begin(api, entry, { config, report: (reason) => sink.report(launch.key, { type: 'pending', reason }) });
      await look(launch.key);
    } catch (error) {
      if (entry.stopped) {
        sink.report(launch.key, { type: 'ended', endedAt: Date.now(), end: { kind: 'stopped' } });
        tracked.delete(launch.key);
        return;
      }
      tracked.delete(launch.key);
      throw error instanceof EngineError ? error : new EngineError(codeOf(error), messageOf(error), { cause: error });
    }
  }

  return {
    async open(target) {
      sink = target;
      api = await connectDocker(config.socketPath);
      void listen();
      poll = setInterval(() => void sweep().catch(() => undefined), config.pollMs);
      poll.unref();
    },

    async launch(launch) {
      const under = launching.get(launch.key) ?? bringUp(launch).finally(() => launching.delete(launch.key));
      launching.set(launch.key, under);
      await under;
    },

    async recover(launches) {
      for (const launch of launches) {
        const entry = track(launch);
        entry.stopped = await exists(join(launch.directory, STOP_MARK));
        const container = await api.inspect(dockerName(launch.key));
        if (container && container.State.Status !== 'created') {
          await settle(entry, container);
        } else if (!container && (await exists(join(launch.directory, START_MARK)))) {
          entry.running = true;
          await vanished(entry);
        } else {
          tracked.delete(launch.key);
          sink.report(launch.key, { type: 'absent' });
        }
      }
    },

    async stop(key, { graceMs }) {
      // What has ended by itself keeps its own verdict.
      await look(key);
      const entry = tracked.get(key);
      if (!entry || entry.ended) return;
      entry.stopped = true;
      await writeFile(join(entry.launch.directory, STOP_MARK), '');
      entry.abort.abort();
      const query = { t: String(Math.ceil(graceMs / 1000)) };
      await ignoring([304, 404], api.call('POST', `/containers/${dockerName(key)}/stop`, { query }));
      await look(key);
    },

    async remove(key) {
      tracked.delete(key);
      const query = { force: 'true', v: 'true' };
      await ignoring([404, 409], api.call('DELETE', `/containers/${dockerName(key)}`, { query }));
    },

    async close() {
      closing.abort();
      clearInterval(poll);
      await Promise.allSettled([...tracked.values()].map((entry) => entry.log));
      await api?.close();
    },
  };
}

/** Pull, create, start: each of them finds what an earlier try has done. */
async function begin(
  api: DockerApi,
  entry: Tracked,
  { config, report }: { config: DockerConfig; report: (reason: string) => void },
): Promise<void> {
  const { launch } = entry;
  if (launch.image === undefined) {
    throw new EngineError('REFUSED', 'a container on Docker needs an image, and none was given');
  }
  const name = dockerName(launch.key);
  let found = await api.inspect(name);
  if (!found) {
    await ensureDockerImage(api, launch.image, { config, onProgress: report, signal: entry.abort.signal });
    if (entry.stopped) throw new Error('stopped before it was created');
    const sources = new Map<Mount, string>();
    for (const mount of launch.mounts) sources.set(mount, await mountSource(mount));
    const source = (mount: Mount) => sources.get(mount) ?? mount.root;
    const body = dockerContainer(launch, { source, isPodman: api.isPodman });
    await ignoring([409], api.call('POST', '/containers/create', { query: { name }, body }));
    found = await api.inspect(name);
  }
  if (found && found.State.Status !== 'created') return;
  await writeFile(join(launch.directory, START_MARK), '');
  if (entry.stopped) throw new Error('stopped before it was started');
  await ignoring([304], api.call('POST', `/containers/${name}/start`));
}

/**
 * The mount's real path on the host, refused when links lead out of the volume. The daemon resolves the path again by
 * itself: a container that swaps a directory for a link in between wins (docs/engines.md).
 */
async function mountSource(mount: Mount): Promise<string> {
  const root = await realpath(mount.root);
  const path = await realpath(join(root, mount.subPath)).catch(() => undefined);
  if (path === undefined || !`${path}/`.startsWith(`${root}/`)) {
    throw new EngineError('REFUSED', `${mount.subPath} of the volume cannot be mounted: it is absent or leads out`);
  }
  return path;
}

async function ignoring(statuses: readonly number[], call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (!(error instanceof DockerError && statuses.includes(error.status))) throw error;
  }
}

/** A daemon that answers with a client error will do so again; anything else may pass. */
function codeOf(error: unknown): 'REFUSED' | 'UNAVAILABLE' {
  if (!(error instanceof DockerError)) return 'UNAVAILABLE';
  return error.status < 500 || /executable file not found|OCI runtime create failed/.test(error.message)
    ? 'REFUSED'
    : 'UNAVAILABLE';
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

function endTime(state: DockerContainer['State']): number {
  const time = Date.parse(state.FinishedAt);
  return time > 0 ? time : Date.now();
}

/** The keys of our containers, as events about them come in: one JSON object a line. */
async function* eventKeys(events: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of events) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const { Actor } = JSON.parse(line) as { Actor?: { Attributes?: { name?: string } } };
      const key = keyOfName(Actor?.Attributes?.name ?? '');
      if (key !== undefined) yield key;
    }
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
