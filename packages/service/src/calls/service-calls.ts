import type { Account, ChangeHint, InstanceType, Ref, ResolvedImage, Scope, VolumeService } from '@sluice/client';
import { matchingAccounts } from '../accounts/authorize.ts';
import type { Principal } from '../accounts/principal.ts';
import type { Cluster } from '../clusters/cluster.ts';
import { RequestError } from '../protocol/request-error.ts';
import { storagePaths } from '../storage/storage-paths.ts';
import type { Store } from '../store/store.ts';
import { TABLES } from '../store/tables.ts';
import type { VolumeRow } from '../store/volume-row.ts';
import { isTransferPassword } from '../volumes/transfer-login.ts';
import { volumeFault } from '../volumes/volume-fault.ts';
import { webDavPath } from '../volumes/webdav/webdav-path.ts';
import type { ContainerCalls } from './container-calls.ts';
import { resolveImage } from './resolve-image.ts';
import type { TransferAddress, VolumeCalls } from './volume-calls.ts';

/** All that the service can be asked to do, authorization included: beneath the routes and the in-process service. */
export interface ServiceCalls {
  listAccounts(principal: Principal, clusterID: string): Account[];
  listInstanceTypes(principal: Principal, clusterID: string): InstanceType[];
  /** What a container of the account with this image would run now; undefined where the engine cannot tell. */
  resolveImage(principal: Principal, scope: Scope, image: string): Promise<ResolvedImage | undefined>;
  readonly containers: ContainerCalls;
  readonly volumes: VolumeCalls;
  /** Calls back for each change of a container of the principal's, until the returned function is called. */
  watch(principal: Principal, listener: (hint: ChangeHint) => void): () => void;
  /** The volume that a transfer login opens, and where its files are; refuses a wrong login and an unavailable volume. */
  openVolume(ref: Ref, login: Pick<VolumeService, 'username' | 'password'>): { row: VolumeRow; root: string };
  /** The same where only the login is known, as with SFTP; undefined where it opens nothing. */
  openVolumeOf(login: Pick<VolumeService, 'username' | 'password'>): { row: VolumeRow; root: string } | undefined;
  /** Addresses of this service for clients without a network between. */
  readonly localAddress: TransferAddress;
}

/** The base URL of a service behind a unix socket, or in process: what of it counts is that both are the same. */
export const LOCAL_ORIGIN = 'http://localhost';

export interface ServiceCallsOptions {
  readonly store: Store;
  readonly clusters: ReadonlyMap<string, Cluster>;
  readonly containers: ContainerCalls;
  readonly volumes: VolumeCalls;
  /** Where SFTP is, once it is. */
  readonly sftpAddress: () => { sftp?: string };
  /** Called for each change. */
  readonly listeners: Set<(hint: ChangeHint) => void>;
}

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
    resolveImage: (principal, scope, image) => resolveImage(clusters, { principal, scope, image }),
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
    openVolume(ref, login) {
      const opened = calls.openVolumeOf(login);
      const matches =
        opened?.row.id === ref.id && opened.row.clusterID === ref.clusterID && opened.row.accountID === ref.accountID;
      if (opened === undefined || !matches) {
        throw new RequestError(
          'CREDENTIALS_INVALID',
          `could not open the volume '${ref.id}' because the login is not valid for it`,
        );
      }
      const fault = volumeFault(opened.root);
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
      const storage = clusters.get(row.clusterID)?.storage;
      return storage === undefined ? undefined : { row, root: storagePaths.volume(storage, row.accountID, row.id) };
    },
    localAddress: (volume) => ({ webdav: webDavUrl(LOCAL_ORIGIN, volume), ...options.sftpAddress() }),
  };
  return calls;
}

/** Where a volume's WebDAV collection is beneath an origin. */
export function webDavUrl(origin: string, volume: Ref): string {
  return `${origin}${webDavPath(volume)}/`;
}

function instanceTypesOf(cluster: Cluster): InstanceType[] {
  return cluster.config.instanceTypes.map((type) => {
    const found = cluster.driver.models(type.options);
    return {
      id: type.id,
      clusterID: cluster.id,
      cpu: { cores: type.cores, model: type.cpuModel ?? found.cpu ?? 'generic' },
      memory: { sizeGB: type.memoryGB },
      gpu: { count: type.gpus, model: type.gpuModel ?? (type.gpus > 0 ? found.gpu : undefined) ?? '' },
      ...(cluster.driver.features.length === 0 ? {} : { features: [...cluster.driver.features] }),
    };
  });
}
