import { access, constants } from 'node:fs/promises';
import { FEATURES, type Feature, type JobRequest } from '@sluice/client';
import { containerOptionsOf } from './docker/container-options.ts';
import { ALLOW_ALL, type DockerConfig, dockerConfigSchema } from './docker/docker-config.ts';
import type { Engine, EngineSink, HardwareModels, ImageQuery, JobSource, Launch, LaunchOptions } from './engine.ts';
import type { EngineSite } from './engine-factory.ts';
import { createProcessEngine } from './process/process-engine.ts';

/** What the engine needs to know of its cluster. */
export type LocalEngineOptions = Pick<EngineSite, 'clusterID' | 'maskedPaths'> &
  Partial<Pick<EngineSite, 'storageAccess'>>;

/** Delay before containers of an earlier run are requested again from a Docker Engine that did not respond. */
const RETRY_MS = 5000;

/**
 * The embedded service's engine: processes of this machine, and Docker Engine for containers with an image, if its socket
 * exists. Docker Engine's code is loaded, and its socket is opened, when the first image is requested.
 */
export function createLocalEngine(options: LocalEngineOptions): Engine {
  return new LocalEngine(options);
}

class LocalEngine implements Engine {
  readonly #options: LocalEngineOptions;
  readonly #processes: Engine;
  #sink: EngineSink | undefined;
  #docker: Promise<Engine> | undefined;
  #openedDocker: Engine | undefined;
  #retry: NodeJS.Timeout | undefined;
  readonly #inDocker = new Set<string>();
  /** Containers of an earlier run that Docker Engine has not yet reported. */
  readonly #unrecovered = new Map<string, Launch>();

  constructor(options: LocalEngineOptions) {
    this.#options = options;
    this.#processes = createProcessEngine({}, options);
  }

  get features(): readonly Feature[] {
    const isUnlimited = this.#openedDocker?.features.includes(FEATURES.unlimitedMemory);
    return [
      ...this.#processes.features,
      FEATURES.imageDigests,
      FEATURES.dockerOptions,
      FEATURES.pullTimes,
      ...(isUnlimited ? [FEATURES.unlimitedMemory] : []),
    ];
  }

  async open(sink: EngineSink): Promise<void> {
    this.#sink = sink;
    await this.#processes.open(sink);
  }

  async launch(launch: Launch, options?: LaunchOptions): Promise<void> {
    // Without a Docker socket the process engine rejects the image with advice.
    if (launch.image === undefined || !(await this.#hasDocker())) return this.#processes.launch(launch);
    this.#inDocker.add(launch.key);
    return (await this.#openDocker()).launch(launch, options);
  }

  checkJob(job: JobRequest, source: JobSource): void {
    this.#processes.checkJob?.(job, source);
    containerOptionsOf(dockerConfig(), { ...source, job });
  }

  async recover(launches: readonly Launch[]): Promise<void> {
    await this.#processes.recover(launches.filter(({ image }) => image === undefined));
    for (const launch of launches) {
      if (launch.image === undefined) continue;
      this.#inDocker.add(launch.key);
      this.#unrecovered.set(launch.key, launch);
    }
    await this.#recoverImages().catch(() => this.#recoverLater());
  }

  async stop(key: string, options: { graceMs: number }): Promise<void> {
    if (!this.#inDocker.has(key)) return this.#processes.stop(key, options);
    await this.#recoverImages();
    return (await this.#openDocker()).stop(key, options);
  }

  async remove(key: string): Promise<void> {
    if (!this.#inDocker.has(key)) return this.#processes.remove(key);
    await (await this.#openDocker()).remove(key);
    this.#inDocker.delete(key);
  }

  async findProcess(key: string): Promise<number | undefined> {
    return await (this.#inDocker.has(key) ? await this.#openDocker() : this.#processes).findProcess?.(key);
  }

  models(options: Launch['options']): HardwareModels {
    return this.#processes.models?.(options) ?? {};
  }

  warnings(): readonly string[] {
    return this.#processes.warnings?.() ?? [];
  }

  async resolveImage(image: string, options: ImageQuery): Promise<string | undefined> {
    return (await this.#hasDocker()) ? (await this.#openDocker()).resolveImage?.(image, options) : undefined;
  }

  async close(): Promise<void> {
    clearTimeout(this.#retry);
    this.#sink = undefined;
    await this.#processes.close();
    await this.#docker?.then((engine) => engine.close()).catch(() => {});
  }

  async #hasDocker(): Promise<boolean> {
    return this.#docker !== undefined || (await canRunImages());
  }

  #openDocker(): Promise<Engine> {
    this.#docker ??= import('./docker/docker-engine.ts').then(async ({ createDockerEngine }) => {
      const engine = createDockerEngine(dockerConfig(), this.#options);
      if (this.#sink === undefined) throw new Error('could not use Docker Engine because the engine is not open');
      // Steps without an image do not need it: a launch says that it does not answer.
      const sink = this.#sink;
      await engine.open({ report: (key, observation) => sink.report(key, observation) });
      this.#openedDocker = engine;
      return engine;
    });
    this.#docker.catch(() => {
      this.#docker = undefined;
    });
    return this.#docker;
  }

  /** Recovers the remaining containers of an earlier run; the engine does not know them before. */
  async #recoverImages(): Promise<void> {
    const launches = [...this.#unrecovered.values()];
    if (launches.length === 0) return;
    await (await this.#openDocker()).recover(launches);
    for (const { key } of launches) this.#unrecovered.delete(key);
  }

  /** Containers of a Docker Engine that does not respond keep their phase until it does. */
  #recoverLater(): void {
    const retry = () => this.#recoverImages().catch(() => this.#sink && this.#recoverLater());
    this.#retry = setTimeout(() => void retry(), RETRY_MS).unref();
  }
}

/** The user of a home can use the daemon without it, so nothing is denied to its runs. */
function dockerConfig(): DockerConfig {
  return dockerConfigSchema.parse(ALLOW_ALL);
}

/** Whether this process can access the socket of Docker Engine or Podman. Does not connect to it. */
export function canRunImages(): Promise<boolean> {
  return access(dockerConfig().socketPath, constants.R_OK | constants.W_OK).then(
    () => true,
    () => false,
  );
}
