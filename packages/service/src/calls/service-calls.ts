import {
  type Account,
  type ChangeHint,
  FEATURES,
  type InstanceType,
  type Ref,
  type ResolvedImage,
  type Scope,
  type VolumeService,
} from '@sluice/client';
import { matchingAccounts } from '../accounts/authorize.ts';
import type { Principal } from '../accounts/principal.ts';
import { amountOf } from '../config/amount-of.ts';
import type { Cluster } from '../containers/cluster.ts';
import { RequestError } from '../protocol/request-error.ts';
import { shorten } from '../protocol/shorten.ts';
import type { StorageAccess } from '../storage/storage-access.ts';
import { storagePaths } from '../storage/storage-paths.ts';
import type { Store } from '../store/store.ts';
import { TABLES } from '../store/tables.ts';
import type { VolumeRow } from '../store/volume-row.ts';
import type { StorageSpace } from '../volumes/storage-space.ts';
import { isTransferPassword } from '../volumes/transfer-login.ts';
import { volumeFault } from '../volumes/volume-fault.ts';
import { webDavPath } from '../volumes/webdav/webdav-path.ts';
import type { ContainerCalls } from './container-calls.ts';
import { resolveImage } from './resolve-image.ts';
import type { TransferAddress, VolumeCalls } from './volume-calls.ts';

/** A volume that a login opens: its files, and what counts them. */
export interface OpenedVolume {
  readonly row: VolumeRow;
  readonly root: string;
  readonly space: StorageSpace;
  readonly storage: StorageAccess;
}

/** An image to resolve; `fresh` as in `ResolveOptions`. */
interface ImageName {
  readonly image: string;
  readonly fresh?: boolean | undefined;
}

/** All operations of the service, with authorization. The HTTP routes and the in-process service call these. */
export interface ServiceCalls {
  listAccounts(principal: Principal, clusterID: string): Account[];
  listInstanceTypes(principal: Principal, clusterID: string): InstanceType[];
  /** The digest that a container of the account would run now; undefined if the engine cannot tell. */
  resolveImage(principal: Principal, scope: Scope, image: ImageName): Promise<ResolvedImage | undefined>;
  readonly containers: ContainerCalls;
  readonly volumes: VolumeCalls;
  /** Calls `listener` for each change of one of the principal's containers, until the returned function is called. */
  watch(principal: Principal, listener: (hint: ChangeHint) => void): () => void;
  /** The volume that a transfer login opens, with the path of its files. Throws if the login is invalid or the volume unavailable. */
  openVolume(ref: Ref, login: Pick<VolumeService, 'username' | 'password'>): Promise<OpenedVolume>;
  /** As `openVolume`, if only the login is known, as with SFTP; undefined if it is invalid. */
  openVolumeOf(login: Pick<VolumeService, 'username' | 'password'>): OpenedVolume | undefined;
  /** Addresses of volumes for in-process clients. */
  readonly localAddress: TransferAddress;
}

/** The base URL of a service on a Unix socket or in process. Both must use the same one, so that addresses match. */
export const LOCAL_ORIGIN = 'http://localhost';

/** What `createServiceCalls` combines. */
export interface ServiceCallsOptions {
  readonly store: Store;
  readonly clusters: ReadonlyMap<string, Cluster>;
  readonly containers: ContainerCalls;
  readonly volumes: VolumeCalls;
  /** The address of the SFTP server; empty until it listens. */
  readonly sftpAddress: () => { sftp?: string };
  /** Called for each change of a container; `watch` adds to it. */
  readonly listeners: Set<(hint: ChangeHint) => void>;
}

/** Holds no resources of its own. */
export function createServiceCalls(options: ServiceCallsOptions): ServiceCalls {
  const { store, clusters, containers, volumes, listeners } = options;
  const calls: ServiceCalls = {
    containers,
    volumes,
    listAccounts: (principal, clusterID) =>
      matchingAccounts(principal, { clusterID, accountID: '-' }).map((account) => ({
        clusterID: account.clusterID,
        accountID: account.accountID,
      })),
    listInstanceTypes(principal, clusterID) {
      const own = new Set(
        matchingAccounts(principal, { clusterID, accountID: '-' }).map((account) => account.clusterID),
      );
      return [...clusters.values()].filter(({ id }) => own.has(id)).flatMap(instanceTypesOf);
    },
    resolveImage: (principal, scope, image) => resolveImage(clusters, { principal, scope, ...image }),
    watch(principal, listener) {
      const filtered = (hint: ChangeHint) => {
        const own = principal.accounts.some(
          ({ clusterID, accountID }) => clusterID === hint.clusterID && accountID === hint.accountID,
        );
        if (own) listener(hint);
      };
      listeners.add(filtered);
      return () => listeners.delete(filtered);
    },
    async openVolume(ref, login) {
      const opened = calls.openVolumeOf(login);
      const matches =
        opened?.row.id === ref.id && opened.row.clusterID === ref.clusterID && opened.row.accountID === ref.accountID;
      if (opened === undefined || !matches) {
        throw new RequestError(
          'CREDENTIALS_INVALID',
          `could not open the volume '${shorten(ref.id)}' because the login is not valid for it`,
        );
      }
      const fault = (await opened.storage.fault()) ?? volumeFault(opened.root);
      if (fault !== undefined) {
        throw new RequestError('STORAGE_UNAVAILABLE', `could not open the volume '${ref.id}': ${fault}`, {
          retryAfterMs: 5000,
        });
      }
      return opened;
    },
    openVolumeOf(login) {
      const key = store.get(TABLES.volumeLogins, login.username);
      const row = key === undefined ? undefined : store.get(TABLES.volumes, key);
      if (row?.login === undefined || row.phase !== 'Available') return undefined;
      if (!isTransferPassword(login.password, row.login.passwordHash)) return undefined;
      const cluster = clusters.get(row.clusterID);
      if (cluster === undefined) return undefined;
      const root = storagePaths.volume(cluster.storage, row.accountID, row.id);
      return { row, root, space: cluster.usage.spaceOf(row.accountID), storage: cluster.storageAccess };
    },
    localAddress: (volume) => ({ webdav: webDavUrl(LOCAL_ORIGIN, volume), ...options.sftpAddress() }),
  };
  return calls;
}

/** The URL of a volume's WebDAV collection, with a slash at the end. */
export function webDavUrl(origin: string, volume: Ref): string {
  return `${origin}${webDavPath(volume)}/`;
}

function instanceTypesOf(cluster: Cluster): InstanceType[] {
  const features = [...cluster.driver.features, ...(cluster.sealer ? [FEATURES.secretEnvs] : [])];
  return cluster.config.instanceTypes.map((type) => {
    const { cores, memoryGB } = amountOf(type);
    const found = cluster.driver.models(type.options);
    return {
      id: type.id,
      clusterID: cluster.id,
      cpu: { cores, model: type.cpuModel ?? found.cpu ?? 'generic' },
      memory: { sizeGB: memoryGB },
      gpu: { count: type.gpu, model: type.gpuModel ?? (type.gpu > 0 ? found.gpu : undefined) ?? '' },
      ...(features.length === 0 ? {} : { features }),
    };
  });
}
