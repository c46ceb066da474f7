import { type ContainerSpec, isServiceError, type Scope } from '@sluice/client';
import { RequestError } from '../protocol/request-error.ts';
import { storagePaths } from '../storage/storage-paths.ts';
import type { RowMount } from '../store/container-row.ts';
import type { Store } from '../store/store.ts';
import { idKey, TABLES } from '../store/tables.ts';
import { openConfinedTree } from '../volumes/files/confined-tree.ts';
import { ensureSubPath } from '../volumes/files/sub-path.ts';
import { volumeFault } from '../volumes/volume-fault.ts';
import { type MountKey, parseMountKey } from './mount-key.ts';
import { normalizeTarget } from './normalize-target.ts';
import { parseWritableMounts } from './parse-writable-mounts.ts';

interface MountScope extends Scope {
  readonly storage: string;
}

/** Resolves the volume mounts of a spec and creates the sub-paths that request it. Throws at the first invalid mount. */
export function resolveMounts(spec: ContainerSpec, scope: MountScope, store: Store): RowMount[] {
  const writable = parseWritableMounts(spec);
  const entries = Object.entries(spec.volumeMounts ?? {});
  if (entries.length === 0) return [];
  const targets = new Map<string, string>();
  // All mounts are checked before the first sub-path is created, so that a rejected call changes nothing.
  const checked = entries.map(([key, target]) => {
    const point = normalizeTarget(target);
    const other = targets.get(point);
    if (other !== undefined) refuseMount(key, `it has the same mount point ${point} as '${other}'`);
    targets.set(point, key);
    return { key, point, ...checkVolume(key, scope, store) };
  });
  shareCreation(checked);
  const roots = checked.map(({ mount }) => storagePaths.volume(scope.storage, scope.accountID, mount.volumeID));
  const found = checked.length > 1 ? checked.map(({ key, mount }, i) => checkSubPath(key, roots[i]!, mount)) : [];
  const mounts = checked.map(({ key, point, volumeKey, mount }, i) => ({
    volumeKey,
    volumeID: mount.volumeID,
    subPath: mount.subPath,
    kind: found[i] ?? makeSubPath(key, roots[i]!, mount),
    target: point,
    ...(writable === undefined || writable.has(point) ? {} : { readOnly: true }),
  }));
  makeInnerMountPoints(mounts, { keys: targets, rootOf: (index) => roots[index]! });
  return mounts;
}

/** A path that one mount creates also exists for the other mounts of the call, whatever their order. */
function shareCreation(checked: readonly { mount: MountKey }[]): void {
  const made = new Map<string, MountKey>();
  for (const { mount } of checked) if (mount.create) made.set(`${mount.volumeID}:${mount.subPath}`, mount);
  for (const one of checked) one.mount = { ...made.get(`${one.mount.volumeID}:${one.mount.subPath}`), ...one.mount };
}

/** Creates missing mount points inside read-only mounts in the volume itself, since no engine can create them there. */
function makeInnerMountPoints(
  mounts: readonly RowMount[],
  { keys, rootOf }: { readonly keys: ReadonlyMap<string, string>; readonly rootOf: (index: number) => string },
): void {
  if (!mounts.some(({ readOnly }) => readOnly)) return;
  const indexes = new Map(mounts.map(({ target }, index) => [target, index]));
  for (const { target, kind } of mounts) {
    let above = target.slice(0, target.lastIndexOf('/'));
    while (above !== '' && !indexes.has(above)) above = above.slice(0, above.lastIndexOf('/'));
    const index = indexes.get(above);
    const outer = index === undefined ? undefined : mounts[index];
    if (index === undefined || outer?.readOnly !== true) continue;
    const subPath = [outer.subPath, target.slice(above.length + 1)].filter((part) => part !== '').join('/');
    makeMountPoint(keys.get(target)!, { root: rootOf(index), subPath, kind });
  }
}

function makeMountPoint(key: string, at: { root: string; subPath: string; kind: 'dir' | 'file' }): void {
  try {
    const found = openConfinedTree(at.root).stat(at.subPath);
    const isOther = found !== undefined && found.isDirectory() !== (at.kind === 'dir');
    if (isOther) refuseMount(key, `its mount point is in a read-only mount, where '${at.subPath}' is no ${at.kind}`);
    if (found === undefined) ensureSubPath(at.root, at.subPath, at.kind);
  } catch (error) {
    throw mountFault(key, { mount: at, error });
  }
}

function checkVolume(key: string, scope: MountScope, store: Store) {
  const parsed = parseMountKey(key);
  if (!parsed.ok) return refuseMount(key, parsed.reason);
  const { volumeID } = parsed.value;
  const volumeKey = store.get(TABLES.volumeIDs, idKey({ ...scope, id: volumeID }));
  const volume = volumeKey === undefined ? undefined : store.get(TABLES.volumes, volumeKey);
  if (volumeKey === undefined || volume === undefined) {
    throw new RequestError(
      'MOUNT_VOLUME_UNKNOWN',
      `could not mount '${key}' because account ${scope.accountID} has no volume '${volumeID}' on cluster ${scope.clusterID}`,
      { details: { field: `volumeMounts.${key}` } },
    );
  }
  if (volume.phase !== 'Available') {
    throw new RequestError('VOLUME_NOT_AVAILABLE', `could not mount '${key}' because the volume is ${volume.phase}`, {
      details: { field: `volumeMounts.${key}`, phase: volume.phase },
    });
  }
  const fault = volumeFault(storagePaths.volume(scope.storage, scope.accountID, volumeID));
  if (fault !== undefined) {
    throw new RequestError('VOLUME_NOT_AVAILABLE', `could not mount '${key}' because the volume is Unknown: ${fault}`, {
      details: { field: `volumeMounts.${key}`, phase: 'Unknown' },
    });
  }
  return { volumeKey, mount: parsed.value };
}

/** What exists at the sub-path; undefined if it is to be created. Throws if it cannot be created, without creating it. */
function checkSubPath(key: string, root: string, mount: { subPath: string; create?: 'dir' | 'file' }) {
  try {
    const found = ensureSubPath(root, mount.subPath);
    if (mount.create !== undefined && found !== mount.create) refuseMount(key, `a ${found} is at '${mount.subPath}'`);
    return found;
  } catch (error) {
    if (!isServiceError(error, 'NOT_FOUND') || mount.create === undefined) throw mountFault(key, { mount, error });
    return undefined;
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

/** The error to throw for a sub-path that cannot be mounted. */
function mountFault(key: string, { mount, error }: { mount: { subPath: string }; error: unknown }): unknown {
  if (error instanceof RequestError) return error;
  if (isServiceError(error, 'NOT_FOUND')) {
    return mountRefusal(key, `nothing is at '${mount.subPath}' of the volume; add :dir or :file to create it`);
  }
  const isCallersFault = isServiceError(error, 'INVALID_ARGUMENT', 'PERMISSION_DENIED', 'ALREADY_EXISTS');
  return isCallersFault ? mountRefusal(key, error.message) : error;
}

function refuseMount(key: string, why: string): never {
  throw mountRefusal(key, why);
}

function mountRefusal(key: string, why: string): RequestError {
  return new RequestError('MOUNT_INVALID', `could not mount '${key}' because ${why}`, {
    details: { field: `volumeMounts.${key}` },
  });
}
