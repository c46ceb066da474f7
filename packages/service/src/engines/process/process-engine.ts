import { FEATURES, type Feature, type JobRequest } from '@sluice/client';
import { LOCAL_STORAGE, type StorageAccess, tryInThread } from '../../storage/storage-access.ts';
import { type Engine, EngineError, type EngineSink, type JobSource, type Launch } from '../engine.ts';
import type { EngineSite } from '../engine-factory.ts';
import { cpuModels } from '../machine-models.ts';
import { tasksOf } from '../tasks-of.ts';
import type { Launcher, MountsBy } from './launcher.ts';
import { createNameFinder } from './name-finder.ts';
import { openLauncher } from './open-launcher.ts';
import type { ProcessConfig } from './process-config.ts';
import { readBoot } from './process-outcome.ts';
import { readClaimant } from './process-records.ts';
import { ProcessWatch } from './process-watch.ts';
import { WITHOUT_NAMESPACES, WITHOUT_TRANSLATION } from './without-namespaces.ts';

/** What the engine needs beside its configuration. */
export type ProcessEngineOptions = Partial<Pick<EngineSite, 'maskedPaths' | 'storageAccess'>>;

/**
 * Runs containers as process trees in namespaces of this machine. The constructor starts no work; `open` starts the
 * launcher.
 */
export function createProcessEngine(config: ProcessConfig = {}, options: ProcessEngineOptions = {}): Engine {
  return new ProcessEngine(config, options);
}

class ProcessEngine implements Engine {
  readonly models = cpuModels;
  readonly #config: ProcessConfig;
  readonly #findMaskedPaths: () => Promise<string[]>;
  readonly #storage: StorageAccess;
  readonly #watch: ProcessWatch;
  #launcher: Launcher | undefined;
  /** Of the last launcher that was opened. */
  #mountsBy: MountsBy | undefined;
  #replacing: Promise<void> | undefined;
  #bootId = '';

  constructor(config: ProcessConfig, options: ProcessEngineOptions) {
    this.#config = config;
    this.#findMaskedPaths = createNameFinder(options.maskedPaths ?? []);
    this.#storage = options.storageAccess ?? LOCAL_STORAGE;
    this.#watch = new ProcessWatch(() => this.#launcher, this.#storage);
  }

  async open(sink: EngineSink): Promise<void> {
    const boot = readBoot();
    this.#bootId = boot.id;
    const launcher = await this.#openLauncher();
    this.#launcher = launcher;
    this.#watch.open({ boot, sink, launcher });
  }

  async launch(launch: Launch): Promise<void> {
    const launcher = await this.#ready();
    const known = this.#watch.get(launch.key);
    if (known?.isAbsent === true) {
      await this.remove(launch.key);
      return await this.launch(launch);
    }
    await (known ?? this.#watch.launch(launch, launcher)).taken.promise;
  }

  async recover(launches: readonly Launch[]): Promise<void> {
    await this.#ready();
    await Promise.all(launches.map((launch) => this.#watch.recover(launch)));
  }

  async stop(key: string, options: { graceMs: number }): Promise<void> {
    const container = this.#watch.get(key);
    if (container === undefined || container.state === 'ended') return;
    // The earliest deadline counts: a delete does not wait for the grace period of an earlier cancel.
    container.killAt = Math.min(performance.now() + options.graceMs, container.killAt ?? Number.POSITIVE_INFINITY);
    await this.#ready();
    this.#watch.pursueStop(container);
  }

  async remove(key: string): Promise<void> {
    const container = this.#watch.get(key);
    if (container?.state === 'ended') this.#watch.remove(container);
  }

  async findProcess(key: string): Promise<number | undefined> {
    const container = this.#watch.get(key);
    if (container === undefined) return undefined;
    return await tryInThread(this.#storage, () => readClaimant(container.launch.directory, this.#bootId));
  }

  /** Without mount namespaces, files cannot be made read-only. Does not change while a launcher is being replaced. */
  get features(): readonly Feature[] {
    return [FEATURES.multiNode, ...(this.#mountsBy === 'namespaces' ? [FEATURES.readOnlyMounts] : [])];
  }

  /** Also for the containers with an image that another engine runs on this machine. */
  checkJob(job: JobRequest, { image }: JobSource): void {
    if (image === undefined || tasksOf({ job }).count === 1) return;
    const advice = "use a cluster with Slurm and a runtime for images, or leave 'image' out";
    throw new EngineError('REJECTED', `could not start a container with an image on several nodes: ${advice}`);
  }

  warnings(): readonly string[] {
    switch (this.#mountsBy) {
      case 'translation':
        return [WITHOUT_NAMESPACES];
      case 'rewriting':
        return [WITHOUT_TRANSLATION];
      default:
        return [];
    }
  }

  async close(): Promise<void> {
    this.#watch.close();
    // Otherwise a replacement launcher that is being started would outlive this process.
    await this.#replacing?.catch(() => {});
    const launcher = this.#launcher;
    this.#launcher = undefined;
    this.#watch.clearTimers();
    await launcher?.close();
  }

  async #ready(): Promise<Launcher> {
    if (this.#watch.isOpen && this.#launcher === undefined) await this.#replaceLauncher();
    if (this.#launcher === undefined)
      throw new EngineError('UNAVAILABLE', 'could not use the process engine: it is not open');
    return this.#launcher;
  }

  async #openLauncher(): Promise<Launcher> {
    const launcher = await openLauncher(
      { ...this.#config, maskedPaths: await this.#findMaskedPaths(), storage: this.#storage },
      { event: (event) => this.#watch.handle(event), lost: () => this.#handleLoss() },
    );
    this.#mountsBy = launcher.mountsBy;
    return launcher;
  }

  /**
   * Replaces the launcher once immediately, and again when it is needed: a launcher that always fails is not restarted in a
   * loop.
   */
  #handleLoss(): void {
    this.#launcher = undefined;
    for (const container of this.#watch.unended()) if (container.state === 'live') container.state = 'adopting';
    if (this.#watch.isOpen) this.#replaceLauncher().catch(() => {});
  }

  #replaceLauncher(): Promise<void> {
    this.#replacing ??= this.#openAndAdopt().finally(() => {
      this.#replacing = undefined;
    });
    return this.#replacing;
  }

  /** Containers survive their launcher: a new one adopts what the lost one watched. */
  async #openAndAdopt(): Promise<void> {
    // The launcher may be lost again during the adoption.
    while (this.#launcher === undefined) {
      const containers = this.#watch.unended();
      try {
        this.#launcher = await this.#openLauncher();
      } catch (error) {
        for (const container of containers) {
          if (container.state === 'launching') this.#watch.reject(container, error as EngineError);
        }
        throw error;
      }
      // Closed in the meantime: running containers continue, and nothing more is started.
      if (!this.#watch.isOpen) return;
      await this.#watch.adoptAll(containers, this.#launcher);
    }
  }
}
