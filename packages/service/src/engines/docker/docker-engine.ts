import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type Engine,
  EngineError,
  type EngineSink,
  type HardwareModels,
  type Launch,
  type LaunchOptions,
} from '../engine.ts';
import type { EngineSite } from '../engine-factory.ts';
import { exists } from '../exists.ts';
import { forEachLimit } from '../for-each-limit.ts';
import { checkImageName } from '../image-name.ts';
import { asEngineError } from './as-engine-error.ts';
import {
  ACTS_WITHIN_MS,
  connectDocker,
  type DockerApi,
  type DockerContainer,
  type DockerListItem,
} from './docker-api.ts';
import type { DockerConfig } from './docker-config.ts';
import { findFirstProcess } from './docker-first-process.ts';
import { findImageDigest } from './docker-image-digest.ts';
import { dockerModels } from './docker-models.ts';
import { preventStart, removeDockerContainer } from './docker-remove.ts';
import { dockerName } from './docker-request.ts';
import { ignoring, mayHaveStarted, startDockerContainer } from './docker-start.ts';
import { DockerWatch } from './docker-watch.ts';

/** Written before a stop is asked for, so that a restarted service knows the end as requested. */
const STOP_MARK = 'docker-stop';

export interface DockerEngineOptions extends Pick<EngineSite, 'clusterID'> {
  /** The program that containers start with. Default: where the build puts it, if it could. */
  readonly firstProcessPath?: string;
}

/**
 * Containers of Docker Engine, or of Podman through its compatible socket. A first process of ours in each writes how
 * it ended; the daemon's event stream and a list every `pollMs` say when to look. The daemon's own restart loses nothing
 * where `live-restore` is on. Creating it does nothing; `open` does.
 */
export function createDockerEngine(config: DockerConfig, options: DockerEngineOptions): Engine {
  return new DockerEngine(config, options);
}

/** What there is once the engine is open. */
interface Connection {
  readonly api: DockerApi;
  readonly sink: EngineSink;
  readonly watch: DockerWatch;
  /** Path of the program that containers start with, undefined to leave all to the daemon. */
  readonly firstProcess: string | undefined;
}

class DockerEngine implements Engine {
  readonly features = ['read-only-mounts', 'image-digests'] as const;
  readonly hidesHost = true;
  readonly checkImage = checkImageName;
  readonly #config: DockerConfig;
  readonly #options: DockerEngineOptions;
  readonly #launching = new Map<string, Promise<void>>();
  #connection: Connection | undefined;
  #models: HardwareModels = {};

  constructor(config: DockerConfig, options: DockerEngineOptions) {
    this.#config = config;
    this.#options = options;
  }

  async open(sink: EngineSink): Promise<void> {
    const { clusterID, firstProcessPath } = this.#options;
    const firstProcess = await findFirstProcess(firstProcessPath);
    const api = await connectDocker(this.#config.socketPath);
    const watch = new DockerWatch({ clusterID, api, sink });
    this.#connection = { api, sink, watch, firstProcess };
    // Not waited for: a driver that is asked for its cards may take seconds.
    void dockerModels(api).then((found) => {
      this.#models = found;
    });
    watch.start(this.#config.pollMs);
  }

  models(): HardwareModels {
    return this.#models;
  }

  async launch(launch: Launch, options: LaunchOptions = {}): Promise<void> {
    const { key } = launch;
    const under = this.#launching.get(key) ?? this.#start(launch, options).finally(() => this.#launching.delete(key));
    this.#launching.set(key, under);
    await under;
  }

  async recover(launches: readonly Launch[]): Promise<void> {
    if (launches.length === 0) return;
    const listed = await this.#connected.watch.list();
    await forEachLimit(launches, (launch) => this.#adopt(launch, listed.get(launch.key)));
  }

  async stop(key: string, { graceMs }: { graceMs: number }): Promise<void> {
    // A start in progress would come after the stop.
    await this.#launching.get(key)?.catch(() => undefined);
    const { api, watch } = this.#connected;
    // What has ended by itself keeps its own verdict.
    await watch.look(key);
    const container = watch.get(key);
    if (!container || container.ended) return;
    container.stopped = true;
    // Best effort: what is to be stopped may be what fills the disk.
    await writeFile(join(container.launch.directory, STOP_MARK), '').catch(() => undefined);
    // The daemon keeps the deadline, also without this service; of two stops the one that kills first counts.
    const query = { t: String(Math.ceil(graceMs / 1000)) };
    const answersWithin = graceMs + ACTS_WITHIN_MS;
    await ignoring([304, 404], api.call('POST', `/containers/${container.id}/stop`, { query, answersWithin }));
    await watch.look(key);
  }

  async remove(key: string): Promise<void> {
    const { api, watch } = this.#connected;
    watch.forget(key);
    await removeDockerContainer(api, key);
  }

  async findProcess(key: string): Promise<number | undefined> {
    const { api, watch } = this.#connected;
    const container = await api.inspect(watch.get(key)?.id ?? dockerName(key));
    return container && (await processOf(container));
  }

  async resolveImage(image: string, { accountID }: { readonly accountID: string }): Promise<string | undefined> {
    try {
      return await findImageDigest(this.#connected.api, image, { config: this.#config, accountID });
    } catch (error) {
      throw asEngineError(error);
    }
  }

  async close(): Promise<void> {
    await this.#connection?.watch.close();
    await this.#connection?.api.close();
  }

  get #connected(): Connection {
    if (this.#connection !== undefined) return this.#connection;
    throw new EngineError('UNAVAILABLE', 'could not use the docker engine: it is not open');
  }

  async #start(launch: Launch, { signal }: LaunchOptions): Promise<void> {
    const { api, sink, watch, firstProcess } = this.#connected;
    const container = watch.track(launch);
    const onProgress = (reason: string) => sink.report(launch.key, { type: 'pending', reason });
    try {
      await startDockerContainer(api, launch, { config: this.#config, firstProcess, onProgress, signal });
      await watch.adopt(container, await api.inspect(dockerName(launch.key)));
    } catch (error) {
      watch.forget(launch.key);
      throw asEngineError(error);
    }
  }

  /** `item` is what the list says of it. */
  async #adopt(launch: Launch, item: DockerListItem | undefined): Promise<void> {
    const { api, sink, watch } = this.#connected;
    const container = watch.track(launch);
    container.stopped = await exists(join(launch.directory, STOP_MARK));
    const mayHave = await mayHaveStarted(launch);
    // The daemon may just be starting it for an earlier service.
    const isCreated = item?.State === 'created' && (!mayHave || (await preventStart(api, launch)));
    const neverStarted = item ? isCreated : !mayHave;
    if (neverStarted) {
      watch.forget(launch.key);
      return sink.report(launch.key, { type: 'absent' });
    }
    // What cannot be seen now a sweep sees later: a daemon may hang over one container, and the others must be served.
    await watch.adoptListed(container, item).catch(() => undefined);
  }
}

/** The daemon may count the processes of another machine, or of another PID namespace: ours is in the container's cgroup. */
async function processOf({ Id, State: { Pid = 0 } }: DockerContainer): Promise<number | undefined> {
  const cgroups = Pid > 0 ? await readFile(`/proc/${Pid}/cgroup`, 'utf8').catch(() => '') : '';
  return cgroups.includes(Id) ? Pid : undefined;
}
