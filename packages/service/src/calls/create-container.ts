import {
  type Container,
  type ContainerSpec,
  FEATURES,
  identifierSchema,
  isTerminalPhase,
  JOB_FEATURES,
  JOB_LABEL,
  type JobRequest,
  type Ref,
  type Scope,
} from '@sluice/client';
import { authorize, rejectScope } from '../accounts/authorize.ts';
import type { Principal } from '../accounts/principal.ts';
import { checkQuota, quotaOf } from '../accounts/quota.ts';
import { amountOf } from '../config/amount-of.ts';
import type { InstanceTypeConfig } from '../config/service-config.ts';
import type { Cluster } from '../containers/cluster.ts';
import { createLaunchKey } from '../containers/create-launch-key.ts';
import { parseContainerSpec } from '../containers/parse-container-spec.ts';
import { findJobRequest, parseJobRequest } from '../containers/parse-job-request.ts';
import { renderContainer } from '../containers/render-container.ts';
import { resolveMounts } from '../containers/resolve-mounts.ts';
import { sealContext, splitSecretEnvs } from '../containers/secret-envs.ts';
import { EngineError } from '../engines/engine.ts';
import { tasksOf } from '../engines/tasks-of.ts';
import type { Clock } from '../protocol/clock.ts';
import { rejectField } from '../protocol/parse-body.ts';
import { randomId } from '../protocol/random-id.ts';
import { RequestError } from '../protocol/request-error.ts';
import type { Amount, ContainerRow } from '../store/container-row.ts';
import { renderTime } from '../store/render-list-item.ts';
import type { Sequence } from '../store/sequence.ts';
import { put, type Store } from '../store/store.ts';
import { idKey, sequenceKey, TABLES } from '../store/tables.ts';
import { checkInodes } from './check-storage.ts';
import { checkStoredBytes } from './check-stored-bytes.ts';

/** What `createContainer` works on. */
export interface CreateContainerOptions {
  readonly store: Store;
  readonly clusters: ReadonlyMap<string, Cluster>;
  readonly sequence: Sequence;
  readonly clock: Clock;
  /** How long the record of an ended container is kept. */
  readonly retentionMs: number;
  /** The maximum number of live containers of an account on a cluster. */
  readonly maxLive: number;
  /** Returns a new public host for a port of this name; undefined if this service exposes no ports. */
  readonly hostFor: ((portName: string) => string) | undefined;
}

interface CreateRequest {
  readonly principal: Principal;
  readonly scope: Scope;
  /** Unchecked. */
  readonly spec: unknown;
  /** Default: a random ID. */
  readonly containerID?: string;
}

/** Endpoint 7. Checks everything first, then makes the row durable, and only then starts anything. */
export async function createContainer(options: CreateContainerOptions, request: CreateRequest): Promise<Container> {
  const { principal, scope } = request;
  if (scope.accountID === '-') {
    throw new RequestError('WILDCARD_NOT_ALLOWED', "could not use '-' as accountID because a container needs one", {
      details: { field: 'accountID' },
    });
  }
  if (scope.clusterID !== '-') authorize(principal, scope);
  const parsed = parseContainerSpec(request.spec);
  const cluster = chooseCluster(options, request, parsed);
  const { spec, secret } = cluster.sealer ? splitSecretEnvs(parsed) : { spec: parsed, secret: {} };
  const instanceType = findInstanceType(cluster, spec);
  checkImage(cluster, spec);
  checkJob(cluster, spec, instanceType);
  const amount = findAmount(cluster, spec, instanceType);
  const { clusterID, accountID } = { clusterID: cluster.id, accountID: scope.accountID };
  const id = request.containerID ?? `c-${randomId(20)}`;
  if (!identifierSchema.safeParse(id).success || id === '-') {
    throw new RequestError(
      'ID_INVALID',
      `could not use the container ID '${id}' because it is not 1 to 63 of a-z, 0-9 and -, or is the wildcard -`,
      {
        details: { field: 'containerID' },
      },
    );
  }
  checkIDFree(options, { clusterID, accountID, id });
  checkEngine(options, cluster, accountID);
  await checkInodes(cluster);
  await checkVolumeQuota(cluster, { clusterID, accountID }, spec);
  const hosts = exposedHosts(options, spec);
  const sealed = await sealEnvs(cluster, secret, { clusterID, accountID, id });
  const ports = await takePorts(cluster, spec);
  try {
    return await record(options, cluster, {
      ...{ id, clusterID, accountID, spec, ...sealed, instanceType, amount, hosts, ports },
    });
  } catch (error) {
    for (const port of Object.values(ports)) cluster.ports.release(port);
    throw error;
  }
}

interface Accepted
  extends Pick<ContainerRow, 'id' | 'clusterID' | 'accountID' | 'spec' | 'sealedEnvs' | 'amount' | 'hosts' | 'ports'> {
  readonly instanceType: InstanceTypeConfig;
}

/** Resolves the mounts, which can take long, and makes the container durable. */
async function record(options: CreateContainerOptions, cluster: Cluster, accepted: Accepted): Promise<Container> {
  const { instanceType, ...fields } = accepted;
  const { id, clusterID, accountID, spec, amount } = fields;
  const { store } = options;
  const checkAgain = () => {
    // While this call waited, the ID may have been taken or the cluster removed.
    if (options.clusters.get(clusterID) !== cluster) rejectScope();
    checkIDFree(options, fields);
    checkAmounts(cluster, accountID, { type: instanceType.id, cores: amount.cores });
  };
  let releaseVolumes = () => {};
  const hold = (volumeKeys: readonly string[]) => {
    releaseVolumes = cluster.containers.holdVolumes(volumeKeys);
  };
  try {
    checkAgain();
    const { storage, storageAccess } = cluster;
    const at = { clusterID, accountID, storage, storageAccess };
    const { mounts, check } = await resolveMounts(spec, at, { store, hold });
    // No other code runs between here and the commit.
    checkAgain();
    check();
    const row: ContainerRow = {
      ...{ ...fields, ...createLaunchKey(id), mounts },
      ...{ options: instanceType.options, phase: 'Creating', state: 'being recorded' },
      createTime: options.clock.now(),
    };
    const rowKey = sequenceKey(row, options.sequence.next());
    const durable = store.commit([
      put(TABLES.containers, rowKey, row),
      put(TABLES.containerIDs, idKey(row), rowKey),
      put(TABLES.liveContainers, rowKey, true),
    ]);
    const live = await cluster.containers.create(rowKey, row, durable);
    return renderContainer(live.row, cluster.containers.stateOf(live));
  } finally {
    releaseVolumes();
  }
}

async function sealEnvs(
  { sealer }: Cluster,
  secret: Readonly<Record<string, string>>,
  of: Parameters<typeof sealContext>[0],
): Promise<Pick<ContainerRow, 'sealedEnvs'>> {
  if (sealer === undefined || Object.keys(secret).length === 0) return {};
  try {
    return { sealedEnvs: await sealer.seal(secret, sealContext(of)) };
  } catch (cause) {
    const message =
      'could not store the secret variables of the container: the service has no usable key; ask its operator';
    throw new RequestError('ENGINE_UNAVAILABLE', message, { retryAfterMs: 60_000, cause });
  }
}

/** For `-`, the first cluster in the configuration's order that has the instance type and the account. */
function chooseCluster(
  options: CreateContainerOptions,
  { principal, scope }: CreateRequest,
  spec: ContainerSpec,
): Cluster {
  if (scope.clusterID !== '-') return options.clusters.get(scope.clusterID) ?? rejectScope();
  const own = principal.accounts.filter(({ accountID }) => accountID === scope.accountID);
  if (own.length === 0) rejectScope();
  if (Object.keys(spec.volumeMounts ?? {}).length > 0) {
    const why = 'a mounted volume belongs to one cluster; name that cluster';
    throw new RequestError('WILDCARD_NOT_ALLOWED', `could not use '-' as clusterID because ${why}`, {
      details: { field: 'clusterID' },
    });
  }
  for (const cluster of options.clusters.values()) {
    if (cluster.instanceTypes.has(spec.instanceType) && own.some(({ clusterID }) => clusterID === cluster.id)) {
      return cluster;
    }
  }
  throw unknownInstanceType(spec.instanceType, `no cluster that account ${scope.accountID} may use has it`);
}

function findInstanceType(cluster: Cluster, spec: ContainerSpec): InstanceTypeConfig {
  const type = cluster.instanceTypes.get(spec.instanceType);
  if (type === undefined) throw unknownInstanceType(spec.instanceType, `cluster ${cluster.id} does not have it`);
  return type;
}

/** What the container uses of the cluster: its instance type, once for each task. */
function findAmount(cluster: Cluster, spec: ContainerSpec, type: InstanceTypeConfig): Amount {
  const { capacity } = cluster.config;
  const { count } = tasksOf({
    job: cluster.driver.features.includes(FEATURES.multiNode) ? findJobRequest(spec) : undefined,
  });
  const ofTask = amountOf(type);
  const wanted = {
    cores: ofTask.cores * count,
    memoryGB: ofTask.memoryGB * count,
    gpus: ofTask.gpus * count,
  };
  const offered = capacity && amountOf(capacity);
  for (const kind of ['cores', 'memoryGB', 'gpus'] as const) {
    if (offered !== undefined && wanted[kind] > offered[kind]) {
      const has = count === 1 ? `it has ${wanted[kind]} ${kind}` : `its ${count} tasks need ${wanted[kind]} ${kind}`;
      const sizes = `${has} and cluster ${cluster.id} has ${offered[kind]} in total`;
      throw new RequestError(
        'INSTANCE_TYPE_TOO_LARGE',
        `could not use the instance type '${type.id}' because ${sizes}`,
        {
          details: { field: 'instanceType' },
        },
      );
    }
  }
  return wanted;
}

/** Rejects an image name that the engine would reject at the start, instead of creating a container that fails. */
function checkImage(cluster: Cluster, { image }: ContainerSpec): void {
  if (image === undefined) return;
  try {
    cluster.driver.checkImage(image);
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    throw new RequestError('FIELD_INVALID', `could not use the field 'image': ${error.message}`, {
      details: { field: 'image' },
      cause: error,
    });
  }
}

/** Rejects what the engine would reject at the start, instead of creating a container that fails. */
function checkJob({ driver }: Cluster, spec: ContainerSpec, { options, gpu: gpus }: InstanceTypeConfig): void {
  const job = driver.checkJob && parseJobRequest(spec);
  if (job === undefined) return;
  const unknown = Object.keys(job).find((field) => !driver.features.includes(JOB_FEATURES[field as keyof JobRequest]));
  if (unknown !== undefined) rejectField(`labels.${JOB_LABEL}`, `has '${unknown}', which the cluster does not support`);
  try {
    driver.checkJob!(job, { options, gpus, image: spec.image });
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    throw new RequestError('FIELD_INVALID', error.message, { details: { field: `labels.${JOB_LABEL}` }, cause: error });
  }
}

function unknownInstanceType(id: string, why: string): RequestError {
  return new RequestError('INSTANCE_TYPE_UNKNOWN', `could not use the instance type '${id}' because ${why}`, {
    details: { field: 'instanceType' },
  });
}

function checkIDFree(options: CreateContainerOptions, ref: Ref): void {
  const taken = options.store.get(TABLES.containerIDs, idKey(ref));
  if (taken === undefined) return;
  const live = options.clusters.get(ref.clusterID)?.containers.get(taken);
  const row = live?.row ?? options.store.get(TABLES.containers, taken);
  if (row !== undefined) throw idTaken(row, options.retentionMs);
}

function checkEngine(options: CreateContainerOptions, cluster: Cluster, accountID: string): void {
  const { unavailable } = cluster.driver;
  if (unavailable !== undefined) {
    throw new RequestError('ENGINE_UNAVAILABLE', `could not use cluster ${cluster.id}: ${unavailable}`, {
      retryAfterMs: 5000,
    });
  }
  if (cluster.containers.containersOf(accountID).size >= options.maxLive) {
    const why = `account ${accountID} has ${options.maxLive} that have not ended, which is the limit`;
    throw new RequestError('CONTAINERS_EXHAUSTED', `could not create a container because ${why}`, {
      retryAfterMs: 5000,
    });
  }
}

/** No other code may run between this check and the commit. */
function checkAmounts(
  { id: clusterID, config, containers }: Cluster,
  accountID: string,
  { type, cores }: { readonly type: string; readonly cores: number },
): void {
  const quota = quotaOf(config, accountID);
  if (quota.cpu !== undefined && cores > quota.cpu) {
    const sizes = `the container has ${cores} cores and account ${accountID} has a quota of ${quota.cpu} on cluster ${clusterID}`;
    throw new RequestError('INSTANCE_TYPE_TOO_LARGE', `could not use the instance type '${type}' because ${sizes}`, {
      details: { field: 'instanceType', limit: 'quota.cpu' },
    });
  }
  const at = { clusterID, accountID };
  const used = containers.containersOf(accountID).size;
  checkQuota('containers', { maximum: quota.containers, used, wanted: 1 }, at);
  checkQuota('cpu', { maximum: quota.cpu, used: containers.coresOf(accountID), wanted: cores }, at);
}

/** A container without mounts stores nothing, so the quota does not apply. */
async function checkVolumeQuota(cluster: Cluster, at: Scope, spec: ContainerSpec): Promise<void> {
  if (Object.keys(spec.volumeMounts ?? {}).length > 0) await checkStoredBytes(cluster, at);
}

function exposedHosts(options: CreateContainerOptions, spec: ContainerSpec): Record<string, string> {
  const hosts: Record<string, string> = {};
  for (const [name, port] of Object.entries(spec.ports ?? {})) {
    if (port.https === undefined) continue;
    if (options.hostFor === undefined) {
      const why = 'this service is configured without a port proxy';
      throw new RequestError('PORT_NOT_EXPOSABLE', `could not expose the port '${name}' because ${why}`, {
        details: { field: `ports.${name}.https` },
      });
    }
    hosts[name] = options.hostFor(name);
  }
  return hosts;
}

async function takePorts(cluster: Cluster, spec: ContainerSpec): Promise<Record<string, number>> {
  const ports: Record<string, number> = {};
  for (const name of Object.keys(spec.ports ?? {})) {
    const port = await cluster.ports.take();
    if (port === undefined) {
      for (const taken of Object.values(ports)) cluster.ports.release(taken);
      throw new RequestError('CONTAINERS_EXHAUSTED', `could not find a free port on cluster ${cluster.id}`, {
        retryAfterMs: 5000,
      });
    }
    ports[name] = port;
  }
  return ports;
}

/** The error for an ID in use, with the phase of its container and, if that has ended, the time when the ID is free. */
function idTaken(row: ContainerRow, retentionMs: number): RequestError {
  const ended = isTerminalPhase(row.phase) && row.endTime !== undefined;
  const freeTime = ended ? renderTime(row.endTime! + retentionMs) : undefined;
  const free = freeTime === undefined ? 'delete it to free the ID' : `free at ${freeTime}, or once it is deleted`;
  return new RequestError(
    'CONTAINER_ID_TAKEN',
    `could not create the container '${row.id}' because one with this ID is ${row.phase}; ${free}`,
    { details: { phase: row.phase, ...(freeTime === undefined ? {} : { freeTime }) } },
  );
}
