import { access, constants } from 'node:fs/promises';
import { dockerConfigSchema } from './docker/docker-config.ts';
import type { Engine, EngineSink, Launch } from './engine.ts';
import type { EngineSite } from './engine-factory.ts';
import { createProcessEngine } from './process/process-engine.ts';

/** What the engine needs to know of its cluster. */
export type LocalEngineOptions = Pick<EngineSite, 'clusterID' | 'maskedPaths'>;

/** Delay before containers of an earlier run are requested again from a Docker Engine that did not respond. */
const RETRY_MS = 5000;

/**
 * The embedded service's engine: processes of this machine, and Docker Engine for containers with an image, if its socket
 * exists. Docker Engine's code is loaded, and its socket is opened, when the first image is requested.
 */
export function createLocalEngine(options: LocalEngineOptions): Engine {
  const processes = createProcessEngine({}, { maskedPaths: options.maskedPaths });
  let sink: EngineSink | undefined;
  let docker: Promise<Engine> | undefined;
  let retry: NodeJS.Timeout | undefined;
  const inDocker = new Set<string>();
  /** Containers of an earlier run that Docker Engine has not yet reported. */
  const unrecovered = new Map<string, Launch>();

  return {
    get features() {
      return [...processes.features, 'image-digests' as const];
    },
    async open(to) {
      sink = to;
      await processes.open(to);
    },
    async launch(launch, launchOptions) {
      // Without a Docker socket the process engine refuses the image with advice.
      if (!(await wantsDocker(launch))) return processes.launch(launch);
      inDocker.add(launch.key);
      return (await openDocker()).launch(launch, launchOptions);
    },
    async recover(launches) {
      await processes.recover(launches.filter(({ image }) => image === undefined));
      for (const launch of launches) {
        if (launch.image === undefined) continue;
        inDocker.add(launch.key);
        unrecovered.set(launch.key, launch);
      }
      await recoverImages().catch(() => recoverLater());
    },
    async stop(key, stopOptions) {
      if (!inDocker.has(key)) return processes.stop(key, stopOptions);
      await recoverImages();
      return (await openDocker()).stop(key, stopOptions);
    },
    async remove(key) {
      if (!inDocker.has(key)) return processes.remove(key);
      await (await openDocker()).remove(key);
      inDocker.delete(key);
    },
    async findProcess(key) {
      return await (inDocker.has(key) ? await openDocker() : processes).findProcess?.(key);
    },
    models: (asked) => processes.models?.(asked) ?? {},
    warnings: () => processes.warnings?.() ?? [],
    async resolveImage(image, asked) {
      return docker !== undefined || (await canRunImages())
        ? (await openDocker()).resolveImage?.(image, asked)
        : undefined;
    },
    async close() {
      clearTimeout(retry);
      sink = undefined;
      await processes.close();
      await docker?.then((engine) => engine.close()).catch(() => {});
    },
  };

  async function wantsDocker(launch: Launch): Promise<boolean> {
    return launch.image !== undefined && (docker !== undefined || (await canRunImages()));
  }

  function openDocker(): Promise<Engine> {
    docker ??= import('./docker/docker-engine.ts').then(async ({ createDockerEngine }) => {
      const engine = createDockerEngine(dockerConfigSchema.parse({}), { clusterID: options.clusterID });
      if (sink === undefined) throw new Error('could not use Docker Engine because the engine is not open');
      await engine.open(sink);
      return engine;
    });
    docker.catch(() => {
      docker = undefined;
    });
    return docker;
  }

  /** Recovers the remaining containers of an earlier run; the engine does not know them before. */
  async function recoverImages(): Promise<void> {
    const launches = [...unrecovered.values()];
    if (launches.length === 0) return;
    await (await openDocker()).recover(launches);
    for (const { key } of launches) unrecovered.delete(key);
  }

  /** Containers of a Docker Engine that does not respond keep their phase until it does. */
  function recoverLater(): void {
    retry = setTimeout(() => void recoverImages().catch(() => sink && recoverLater()), RETRY_MS).unref();
  }
}

/** Whether this process can access the socket of Docker Engine or Podman. Does not connect to it. */
export function canRunImages(): Promise<boolean> {
  return access(dockerConfigSchema.parse({}).socketPath, constants.R_OK | constants.W_OK).then(
    () => true,
    () => false,
  );
}
