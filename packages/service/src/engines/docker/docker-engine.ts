import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FEATURES, type Feature, type JobRequest } from '@sluice/client';
import { parseDuration } from '@sluice/core';
import { LOCAL_STORAGE, type StorageAccess, tryInThread } from '../../storage/storage-access.ts';
import {
  type Engine,
  EngineError,
  type EngineSink,
  type HardwareModels,
  type ImageQuery,
  type JobSource,
  type Launch,
  type LaunchOptions,
} from '../engine.ts';
import type { EngineSite } from '../engine-factory.ts';
import { exists } from '../exists.ts';
import { forEachLimit } from '../for-each-limit.ts';
import { GpuLeases } from '../gpu-leases.ts';
import { checkImageName } from '../image-name.ts';
import { containerOptionsOf } from './container-options.ts';
import {
  ACTS_WITHIN_MS,
  connectDocker,
  type DockerApi,
  type DockerContainer,
  DockerError,
  type DockerListItem,
} from './docker-api.ts';
import type { DockerConfig } from './docker-config.ts';
import { findFirstProcess } from './docker-first-process.ts';
import { findImageDigest } from './docker-image-digest.ts';
import { readDockerInfo } from './docker-info.ts';
import { dockerModels } from './docker-models.ts';
import { hasEnded } from './docker-outcome.ts';
import { claimAbsent, readRecord } from './docker-records.ts';
import { dockerName } from './docker-request.ts';
import { ignoring, mayHaveStarted, removeDockerContainer, startDockerContainer } from './docker-start.ts';
import { DockerWatch, ignoreSilence } from './docker-watch.ts';
import { readGpuLabel } from './gpu-devices.ts';

/** Written before a stop is requested, so that a restarted service reports the container as stopped. */
const STOP_MARK = 'docker-stop';

/** Errors that the daemon reports with status 500, but that repeat on every attempt. */
const FINAL_ERRORS =
  /executable file not found|OCI runtime create failed|could not select device driver|discover GPU vendor/;

/** Temporary errors of the machine: no free process, memory or disk space. They take precedence over `FINAL_ERRORS`. */
const PASSING_ERRORS =
  /from pipe: EOF|resource temporarily unavailable|cannot allocate memory|no space left|too many open files|resource busy|input\/output error|deadline exceeded/i;

/** What the engine needs beside its configuration. */
export interface DockerEngineOptions extends Pick<EngineSite, 'clusterID'>, Partial<Pick<EngineSite, 'storageAccess'>> {
  /** Path of the program that containers start with. Default: the compiled or installed one, if it exists. */
  readonly firstProcessPath?: string;
}

/**
 * Runs containers with Docker Engine, or with Podman through its compatible socket. Each container starts with our first
 * process, which records how the command ended; the daemon's events, and a list at an interval, trigger the reading of
 * records. With `live-restore`, containers survive a restart of the daemon. The constructor starts no work; `open` connects.
 */
export function createDockerEngine(config: DockerConfig, options: DockerEngineOptions): Engine {
  return new DockerEngine(config, options);
}

/** Everything that exists only while the engine is open. */
interface Connection {
  readonly api: DockerApi;
  readonly sink: EngineSink;
  readonly watch: DockerWatch;
  /** Path of the program that containers start with; undefined if the daemon starts commands itself. */
  readonly firstProcess: string | undefined;
}

class DockerEngine implements Engine {
  readonly hidesHost = true;
  readonly checkImage = checkImageName;
  readonly #config: DockerConfig;
  readonly #options: DockerEngineOptions;
  readonly #storage: StorageAccess;
  readonly #launching = new Map<string, Promise<void>>();
  #connection: Connection | undefined;
  readonly #gpus = new GpuLeases();
  #models: HardwareModels = {};
  #limitsMemory = true;

  constructor(config: DockerConfig, options: DockerEngineOptions) {
    this.#config = config;
    this.#options = options;
    this.#storage = options.storageAccess ?? LOCAL_STORAGE;
  }

  async open(sink: EngineSink): Promise<void> {
    const { clusterID, firstProcessPath } = this.#options;
    const firstProcess = await findFirstProcess(firstProcessPath);
    const api = await connectDocker(this.#config.socketPath);
    const releasing = this.#releasing(sink);
    const watch = new DockerWatch({ clusterID, api, sink: releasing, storage: this.#storage });
    try {
      await this.#restoreGpus(watch);
    } catch (error) {
      await api.close();
      throw error;
    }
    this.#connection = { api, sink: releasing, watch, firstProcess };
    // Not awaited: a query of the graphics driver can take seconds.
    void readDockerInfo(api).then(async (info) => {
      this.#limitsMemory = info.MemoryLimit !== false;
      this.#models = await dockerModels(info);
    });
    watch.start(parseDuration(this.#config.pollInterval));
  }

  get features(): readonly Feature[] {
    const always = [FEATURES.readOnlyMounts, FEATURES.imageDigests, FEATURES.dockerOptions, FEATURES.pullTimes];
    return this.#limitsMemory ? always : [...always, FEATURES.unlimitedMemory];
  }

  checkJob(job: JobRequest, source: JobSource): void {
    containerOptionsOf(this.#config, { ...source, job });
  }

  models(): HardwareModels {
    return this.#models;
  }

  async launch(launch: Launch, options: LaunchOptions = {}): Promise<void> {
    const { key } = launch;
    const inFlight =
      this.#launching.get(key) ?? this.#start(launch, options).finally(() => this.#launching.delete(key));
    this.#launching.set(key, inFlight);
    await inFlight;
  }

  async recover(launches: readonly Launch[]): Promise<void> {
    if (launches.length === 0) return;
    const listed = await this.#connected.watch.list();
    await forEachLimit(launches, (launch) => this.#adopt(launch, listed.get(launch.key)));
  }

  async stop(key: string, { graceMs }: { graceMs: number }): Promise<void> {
    // Otherwise a start in progress could complete after the stop.
    await this.#launching.get(key)?.catch(() => undefined);
    const { api, watch } = this.#connected;
    // A container that has already ended keeps its own outcome.
    const isSeen = await watch.look(key).then(() => true, ignoreSilence);
    const container = watch.get(key);
    if (!container || container.ended) return;
    // Without its record, which the storage does not give, the daemon decides.
    if (!isSeen && hasEnded((await api.inspect(container.id))?.State.Status ?? '')) return;
    container.stopped = true;
    // Best effort: the disk may be full, possibly because of this container.
    const mark = join(container.launch.directory, STOP_MARK);
    await tryInThread(this.#storage, () => writeFile(mark, '')).catch(() => undefined);
    // The daemon enforces the deadline even if this service ends. Of two stop requests the earlier deadline counts.
    const query = { t: String(Math.ceil(graceMs / 1000)) };
    const answersWithin = graceMs + ACTS_WITHIN_MS;
    await ignoring([304, 404], api.call('POST', `/containers/${container.id}/stop`, { query, answersWithin }));
    await watch.look(key).catch(ignoreSilence);
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

  async resolveImage(image: string, { accountID, fresh }: ImageQuery): Promise<string | undefined> {
    try {
      return await findImageDigest(this.#connected.api, image, { config: this.#config, accountID, fresh });
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
    const storage = this.#storage;
    const container = watch.track(launch);
    const onProgress = (reason: string) => sink.report(launch.key, { type: 'pending', reason });
    try {
      await startDockerContainer(api, launch, {
        config: this.#config,
        firstProcess,
        storage,
        onProgress,
        signal,
        gpus: this.#gpus,
      });
    } catch (error) {
      watch.forget(launch.key);
      const failure = asEngineError(error);
      // A temporary failure is followed by another start, or by the question whether this one took place.
      if (failure.code !== 'UNAVAILABLE') await this.#dropGpus(launch.key);
      throw failure;
    }
    // Its start is confirmed. What the daemon does not tell now (Podman may need a minute with thousands of mounts on a busy
    // machine), the next sweep asks again.
    await watch.adoptStarted(container).catch(() => undefined);
  }

  /** Before anything can be launched: which GPUs the containers of an earlier service have. */
  async #restoreGpus(watch: DockerWatch): Promise<void> {
    for (const [key, { Labels, State }] of await watch.list()) {
      if (key !== undefined && !hasEnded(State)) this.#gpus.restore(key, readGpuLabel(Labels));
    }
  }

  /** A container that certainly never starts gives its GPUs back, and does not claim them after a restart. */
  async #dropGpus(key: string): Promise<void> {
    if (this.#gpus.holds(key, [])) return;
    await removeDockerContainer(this.#connected.api, key);
    this.#gpus.release(key);
  }

  /** The sink, and the end of a container frees its GPUs. */
  #releasing(sink: EngineSink): EngineSink {
    return {
      report: (key, seen) => {
        sink.report(key, seen);
        if (seen.type === 'ended') this.#gpus.release(key);
      },
      answers: (failure) => sink.answers?.(failure),
    };
  }

  /** `item` is the container's entry in the daemon's list. */
  async #adopt(launch: Launch, item: DockerListItem | undefined): Promise<void> {
    const { sink, watch } = this.#connected;
    const container = watch.track(launch);
    container.stopped = await this.#storage.inThread(() => exists(join(launch.directory, STOP_MARK)));
    const wasRequested = await this.#storage.inThread(() => mayHaveStarted(launch));
    // A start that the previous service requested may still be in progress.
    const isCreated = item?.State === 'created' && (!wasRequested || (await this.#preventStart(launch)));
    const neverStarted = item ? isCreated : !wasRequested;
    if (neverStarted) {
      watch.forget(launch.key);
      await this.#dropGpus(launch.key);
      return sink.report(launch.key, { type: 'absent' });
    }
    // If this fails, the next sweep repeats it: a daemon that hangs on one container must not block the others.
    await watch.adoptListed(container, item).catch(() => undefined);
  }

  /**
   * Prevents the start of a container that seems not to have started, even if the daemon is starting it right now; false if
   * it has started. A container without a first process does not check the claim, so it is removed.
   */
  async #preventStart({ key, directory }: Launch): Promise<boolean> {
    const isPrevented = await this.#storage.inThread(async () =>
      (await readRecord(directory)) === undefined ? undefined : await claimAbsent(directory),
    );
    if (isPrevented !== undefined) return isPrevented;
    await removeDockerContainer(this.#connected.api, key);
    return true;
  }
}

/** The PID may belong to another machine or PID namespace; it is ours only if its cgroup contains the container's ID. */
async function processOf({ Id, State: { Pid = 0 } }: DockerContainer): Promise<number | undefined> {
  const cgroups = Pid > 0 ? await readFile(`/proc/${Pid}/cgroup`, 'utf8').catch(() => '') : '';
  return cgroups.includes(Id) ? Pid : undefined;
}

/** Converts an error of the daemon. Client errors are final (`REJECTED`), all others may be temporary (`UNAVAILABLE`). */
function asEngineError(error: unknown): EngineError {
  if (error instanceof EngineError) return error;
  const isFinal =
    error instanceof DockerError &&
    (error.status < 500 || (FINAL_ERRORS.test(error.message) && !PASSING_ERRORS.test(error.message)));
  const message = error instanceof Error ? error.message : String(error);
  return new EngineError(isFinal ? 'REJECTED' : 'UNAVAILABLE', message, { cause: error });
}
