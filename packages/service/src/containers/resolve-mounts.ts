import { type ContainerSpec, isServiceError, type Scope } from '@sluice/client';
import { storagePaths } from '../clusters/storage-paths.ts';
import { Refusal } from '../refusal.ts';
import type { Store } from '../store/store.ts';
import { idKey, TABLES } from '../store/tables.ts';
import { ensureSubPath } from '../volumes/files/sub-path.ts';
import { volumeFault } from '../volumes/volume-fault.ts';
import type { RowMount } from './container-row.ts';
import { parseMountKey } from './mount-key.ts';

interface MountScope extends Scope {
  readonly storage: string;
}

/** Reads the volume mounts of a spec and makes the sub-paths that ask for it; refuses the first that cannot be. */
export function resolveMounts(spec: ContainerSpec, scope: MountScope, store: Store): RowMount[] {
  const entries = Object.entries(spec.volumeMounts ?? {});
  if (entries.length === 0) return [];
  const targets = new Map<string, string>();
  // All are judged before the first sub-path is made, so that a refused call has changed nothing.
  const judged = entries.map(([key, target]) => {
    const point = normalizeTarget(target);
    const other = targets.get(point);
    if (other !== undefined) refuseMount(key, `it has the same mount point ${point} as '${other}'`);
    targets.set(point, key);
    return { key, point, ...judgeVolume(key, scope, store) };
  });
  const roots = judged.map(({ mount }) => storagePaths.volume(scope.storage, scope.accountID, mount.volumeID));
  if (judged.length > 1) for (const [i, { key, mount }] of judged.entries()) checkSubPath(key, roots[i]!, mount);
  return judged.map(({ key, point, volumeKey, mount }, i) => ({
    volumeKey,
    volumeID: mount.volumeID,
    subPath: mount.subPath,
    kind: makeSubPath(key, roots[i]!, mount),
    target: point,
  }));
}

function judgeVolume(key: string, scope: MountScope, store: Store) {
  const parsed = parseMountKey(key);
  if (!parsed.ok) return refuseMount(key, parsed.reason);
  const { volumeID } = parsed.value;
  const volumeKey = store.get(TABLES.volumeIDs, idKey({ ...scope, id: volumeID }));
  const volume = volumeKey === undefined ? undefined : store.get(TABLES.volumes, volumeKey);
  if (volumeKey === undefined || volume === undefined) {
    throw new Refusal(
      'MOUNT_VOLUME_UNKNOWN',
      `could not mount '${key}' because cluster ${scope.clusterID} has no volume '${volumeID}' of account ${scope.accountID}`,
      { details: { field: `volumeMounts.${key}` } },
    );
  }
  if (volume.phase !== 'Available') {
    throw new Refusal('VOLUME_NOT_AVAILABLE', `could not mount '${key}' because the volume is ${volume.phase}`, {
      details: { field: `volumeMounts.${key}`, phase: volume.phase },
    });
  }
  const fault = volumeFault(storagePaths.volume(scope.storage, scope.accountID, volumeID));
  if (fault !== undefined) {
    throw new Refusal('VOLUME_NOT_AVAILABLE', `could not mount '${key}' because the volume is Unknown: ${fault}`, {
      details: { field: `volumeMounts.${key}`, phase: 'Unknown' },
    });
  }
  return { volumeKey, mount: parsed.value };
}

/** Refuses what could not be made, without making it. */
function checkSubPath(key: string, root: string, mount: { subPath: string; create?: 'dir' | 'file' }): void {
  try {
    const found = ensureSubPath(root, mount.subPath);
    if (mount.create !== undefined && found !== mount.create) refuseMount(key, `a ${found} is at '${mount.subPath}'`);
  } catch (error) {
    if (!isServiceError(error, 'NOT_FOUND') || mount.create === undefined) throw mountFault(key, { mount, error });
  }
}

function makeSubPath(key: string, root: string, mount: { subPath: string; create?: 'dir' | 'file' }): 'dir' | 'file' {
  if (mount.subPath === '') return 'dir';
  try {
    return ensureSubPath(root, mount.subPath, mount.create);
  } catch (error) {
    throw mountFault(key, { mount, error });
  }
}

/** What is thrown for a sub-path that cannot be mounted. */
function mountFault(key: string, { mount, error }: { mount: { subPath: string }; error: unknown }): unknown {
  if (error instanceof Refusal) return error;
  if (isServiceError(error, 'NOT_FOUND')) {
    return mountRefusal(key, `nothing is at '${mount.subPath}' of the volume; add :dir or :file to create it`);
  }
  const isCallersFault = isServiceError(error, 'INVALID_ARGUMENT', 'PERMISSION_DENIED', 'ALREADY_EXISTS');
  return isCallersFault ? mountRefusal(key, error.message) : error;
}

/** One spelling for each mount point: without doubled or trailing slashes. */
function normalizeTarget(target: string): string {
  return `/${target
    .split('/')
    .filter((name) => name !== '')
    .join('/')}`;
}

function refuseMount(key: string, why: string): never {
  throw mountRefusal(key, why);
}

function mountRefusal(key: string, why: string): Refusal {
  return new Refusal('MOUNT_INVALID', `could not mount '${key}' because ${why}`, {
    details: { field: `volumeMounts.${key}` },
  });
}
