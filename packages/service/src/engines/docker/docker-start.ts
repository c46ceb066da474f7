import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type StorageAccess, tryInThread } from '../../storage/storage-access.ts';
import { EngineError, type Launch } from '../engine.ts';
import { exists } from '../exists.ts';
import type { GpuLeases } from '../gpu-leases.ts';
import { type ContainerOptions, containerOptionsOf } from './container-options.ts';
import { ACTS_WITHIN_MS, type DockerApi, DockerError, repeatFailed } from './docker-api.ts';
import type { DockerConfig } from './docker-config.ts';
import { firstProcessParts, writeMountList } from './docker-first-process.ts';
import { commandLine, ensureDockerImage } from './docker-image.ts';
import { createRecord, readRecord, withdrawAbsent, withdrawRecord } from './docker-records.ts';
import { dockerName, dockerRequest } from './docker-request.ts';
import { resolveSources } from './docker-source.ts';
import { isDeviceFile, readGpuLabel } from './gpu-devices.ts';
import { openToUser } from './open-to-user.ts';
import { writePodmanProfile } from './podman-seccomp.ts';

/** Written before the start is requested: without it, a container that the daemon does not know never ran. */
const START_MARK = 'docker-start';

/** How to start a container, beside what the launch itself says. */
export interface StartOptions {
  readonly config: DockerConfig;
  /** Path of the program that containers start with; undefined if the daemon starts commands itself. */
  readonly firstProcess: string | undefined;
  /** Of the container's directory and volumes. */
  readonly storage: StorageAccess;
  readonly onProgress: (text: string) => void;
  /** Aborted when the container is no longer needed; checked before each request that could start it. */
  readonly signal: AbortSignal | undefined;
  readonly gpus: GpuLeases;
}

/** Pulls, creates and starts. Idempotent: each part detects what an earlier attempt has completed. */
export async function startDockerContainer(api: DockerApi, launch: Launch, options: StartOptions): Promise<void> {
  if (launch.image === undefined) {
    throw new EngineError('REJECTED', 'a container on Docker needs an image, and none was given');
  }
  const { gpuIDs = [] } = containerOptionsOf(options.config, launch);
  const areFiles = gpuIDs.length > 0 && gpuIDs.every(isDeviceFile);
  if (launch.limits.gpus > 0 && api.isPodman && !areFiles) {
    // Podman would start the container without GPUs and report no error.
    throw new EngineError(
      'REJECTED',
      'a container with GPUs cannot run here: the socket of Podman takes no request for them; the administrator of the service can name their files in /dev with gpuIDs',
    );
  }
  const name = dockerName(launch.key);
  const { storage } = options;
  let found = await api.inspect(name);
  if (found?.State.Status === 'created' && !options.gpus.holds(launch.key, readGpuLabel(found.Config.Labels))) {
    // An earlier service created it, and its GPUs may belong to another container by now.
    await removeDockerContainer(api, launch.key);
    found = undefined;
  }
  if (!found) {
    // It ran and was removed by another client: its record contains the outcome.
    const record = await tryInThread(storage, () => readRecord(launch.directory));
    if (record?.startedAt !== undefined) return;
    await create(api, launch, { ...options, image: launch.image });
    found = await api.inspect(name);
  }
  if (found && found.State.Status !== 'created') return;
  // Not given up: later it would concern a container that has started.
  await storage.inThread(() => withdrawAbsent(launch.directory));
  await tryInThread(storage, () => writeFile(join(launch.directory, START_MARK), ''));
  checkWanted(options.signal);
  const starting = api.call('POST', `/containers/${name}/start`, { answersWithin: ACTS_WITHIN_MS });
  await ignoring([304], starting).catch((error: unknown) => {
    throw removedMeanwhile(error) ?? withAdvice(error);
  });
}

/** Another client ran `prune` between two requests: the next attempt pulls and creates again. */
function removedMeanwhile(error: unknown): EngineError | undefined {
  const isRemoved =
    error instanceof DockerError && error.status === 404 && /no such (image|container)/i.test(error.message);
  return isRemoved ? new EngineError('UNAVAILABLE', error.message, { cause: error }) : undefined;
}

/** Podman as root raises rlimits by default, which fails without the permission to do so. */
function withAdvice(error: unknown): unknown {
  if (!(error instanceof DockerError && error.message.includes('rlimit'))) return error;
  return new DockerError(error.status, `${error.message}; lower default_ulimits in Podman's containers.conf`);
}

/** Whether a start may have been requested from the daemon. */
export function mayHaveStarted({ directory }: Launch): Promise<boolean> {
  return exists(join(directory, START_MARK));
}

/** Ignores errors with these statuses, which mean that the wanted state is already reached. */
export async function ignoring(statuses: readonly number[], call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (!(error instanceof DockerError && statuses.includes(error.status))) throw error;
  }
}

async function create(api: DockerApi, launch: Launch, options: StartOptions & { image: string }): Promise<void> {
  const container = containerOptionsOf(options.config, launch);
  const pull = { policy: container.pull, timeMs: launch.job?.pullTime };
  const image = await ensureDockerImage(api, options.image, { ...options, accountID: launch.accountID, pull });
  checkWanted(options.signal);
  const { storage } = options;
  const argv = commandLine(image, launch.command);
  const sources = await resolveSources(launch.mounts, storage);
  const query = { name: dockerName(launch.key) };
  const send = (body: object) =>
    ignoring([409], api.call('POST', '/containers/create', { query, body, answersWithin: ACTS_WITHIN_MS })).catch(
      (error: unknown) => {
        throw removedMeanwhile(error) ?? error;
      },
    );
  const { user } = container;
  if (user !== undefined) await openToUser(sources, { user, serviceUid: process.geteuid!(), storage });
  const { isPodman } = api;
  const writeProfile = () => tryInThread(storage, () => writePodmanProfile(launch.directory));
  const profile = isPodman ? await writeProfile() : undefined;
  const security = [
    ...(profile === undefined ? [] : [`seccomp=${profile}`]),
    ...(container.staysUser ? ['no-new-privileges'] : []),
  ];
  const daemon = { isPodman, container, security, gpus: await assignGpus(launch, container, options) };
  const { firstProcess } = options;
  if (firstProcess !== undefined && argv.length > 0) {
    try {
      await tryInThread(storage, async () => {
        await createRecord(launch);
        await writeMountList({ launch, sources });
      });
      const parts = firstProcessParts(firstProcess, { launch, sources });
      return await send(dockerRequest(launch, { argv, sources, firstProcess: parts, ...daemon }));
    } catch (error) {
      // The daemon cannot read the service's files, for example because it runs in another container: start without a first
      // process.
      if (!(error instanceof DockerError && error.message.includes(firstProcess))) throw error;
      await tryInThread(storage, () => withdrawRecord(launch.directory));
    }
  }
  await send(dockerRequest(launch, { argv: launch.command, sources, firstProcess: undefined, ...daemon }));
}

/** Waits for GPUs if the configuration names them; undefined if it does not, or the container has none. */
async function assignGpus(
  { key, limits }: Launch,
  { gpuIDs }: ContainerOptions,
  { gpus, signal, onProgress }: StartOptions,
): Promise<readonly string[] | undefined> {
  if (gpuIDs === undefined || limits.gpus === 0) return undefined;
  if (limits.gpus > gpuIDs.length) {
    const why = `it has ${limits.gpus} and the configuration names ${gpuIDs.length}`;
    throw new EngineError('REJECTED', `could not give the container its GPUs: ${why}`);
  }
  const onWait = (holders: number) =>
    onProgress(`waiting for ${limits.gpus} of the GPUs ${gpuIDs.join(', ')}, which ${holders} other containers have`);
  return await gpus.acquire(key, { ids: gpuIDs, count: limits.gpus }, { signal, onWait });
}

/** Removes a container, killing it if it runs. Succeeds if it does not exist. */
export async function removeDockerContainer(api: DockerApi, key: string): Promise<void> {
  const query = { force: 'true', v: 'true' };
  const path = `/containers/${dockerName(key)}`;
  const remove = () => api.call('DELETE', path, { query, answersWithin: ACTS_WITHIN_MS });
  await ignoring([404, 409], repeatFailed(remove));
}

function checkWanted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new Error('stopped before it was started');
}
