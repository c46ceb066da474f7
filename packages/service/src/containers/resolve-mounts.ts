import { type ContainerSpec, isServiceError, type Ref, type Scope } from '@sluice/client';
import { RequestError } from '../protocol/request-error.ts';
import { shorten } from '../protocol/shorten.ts';
import { createStoragePacer, type StorageAccess } from '../storage/storage-access.ts';
import { storagePaths } from '../storage/storage-paths.ts';
import type { RowMount } from '../store/container-row.ts';
import type { Store } from '../store/store.ts';
import { idKey, TABLES } from '../store/tables.ts';
import { type ConfinedTree, openConfinedTree } from '../volumes/files/confined-tree.ts';
import { ensureSubPath } from '../volumes/files/sub-path.ts';
import { volumeFault } from '../volumes/volume-fault.ts';
import { type MountKey, parseMountKey } from './mount-key.ts';
import { normalizeTarget } from './normalize-target.ts';
import { parseWritableMounts } from './parse-writable-mounts.ts';

interface MountScope extends Scope {
  readonly storage: string;
  readonly storageAccess: StorageAccess;
}

/** Mounts with everything that they need in their volumes. */
export interface ResolvedMounts {
  readonly mounts: readonly RowMount[];
  /** Throws if a volume is no longer available. Call it in the turn in which the mounts are stored. */
  check(): void;
}

/**
 * Resolves the volume mounts of a spec and creates the sub-paths that request it. Throws at the first invalid mount. Lets
 * other calls run in between; `hold` is called first and must keep these volumes from being removed.
 */
export async function resolveMounts(
  spec: ContainerSpec,
  scope: MountScope,
  { store, hold }: { readonly store: Store; readonly hold: (volumeKeys: readonly string[]) => void },
): Promise<ResolvedMounts> {
  const writable = parseWritableMounts(spec);
  const entries = Object.entries(spec.volumeMounts ?? {});
  if (entries.length === 0) return { mounts: [], check: () => {} };
  const points = new Map<string, string>();
  const checked = entries.map(([key, target]) => {
    const point = normalizeTarget(target);
    const other = points.get(point);
    if (other !== undefined) rejectMount(key, `it has the same mount point ${point} as '${other}'`);
    points.set(point, key);
    return { key, point, mount: parseKey(key) };
  });
  const volumes = findVolumes(checked, scope, store);
  hold([...volumes.values()]);
  const silent = await scope.storageAccess.fault();
  if (silent !== undefined) throw notAvailable(checked[0]!.key, 'Unknown', `: ${silent}`);
  const roots = openRoots(checked, scope);
  shareCreation(checked);
  const pace = createStoragePacer(scope.storageAccess);
  // All mounts are checked before the first sub-path is created, so that a rejected call changes nothing.
  const found: ('dir' | 'file' | undefined)[] = [];
  for (const { key, mount } of checked.length > 1 ? checked : []) {
    found.push(checkSubPath(key, roots.get(mount.volumeID)!, mount));
    await pace();
  }
  const mounts: RowMount[] = [];
  for (const [i, { key, point, mount }] of checked.entries()) {
    const { volumeID, subPath } = mount;
    const kind = found[i] ?? makeSubPath(key, roots.get(volumeID)!, mount);
    const readOnly = writable !== undefined && !writable.has(point);
    mounts.push({
      volumeKey: volumes.get(volumeID)!,
      volumeID,
      subPath,
      kind,
      target: point,
      ...(readOnly && { readOnly }),
    });
    await pace();
  }
  await makeInnerMountPoints(mounts, { keys: points, roots, pace });
  return { mounts, check: () => void findVolumes(checked, scope, store) };
}

type Roots = ReadonlyMap<string, ConfinedTree>;

interface CheckedMount {
  readonly key: string;
  readonly point: string;
  mount: MountKey;
}

function parseKey(key: string): MountKey {
  const parsed = parseMountKey(key);
  return parsed.ok ? parsed.value : rejectMount(key, parsed.reason);
}

/** The row keys of the mounted volumes by ID. Throws for the first that is not available. */
function findVolumes(checked: readonly CheckedMount[], scope: Scope, store: Store): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const { key, mount } of checked) {
    if (!found.has(mount.volumeID)) found.set(mount.volumeID, findVolume(key, { ...scope, id: mount.volumeID }, store));
  }
  return found;
}

/** The trees of the mounted volumes by ID, each opened once. Throws for the first whose files are not available. */
function openRoots(checked: readonly CheckedMount[], { storage, accountID, storageAccess }: MountScope): Roots {
  const roots = new Map<string, ConfinedTree>();
  for (const { key, mount } of checked) {
    if (roots.has(mount.volumeID)) continue;
    const root = storagePaths.volume(storage, accountID, mount.volumeID);
    const fault = volumeFault(root);
    if (fault !== undefined) throw notAvailable(key, 'Unknown', `: ${fault}`);
    roots.set(mount.volumeID, openConfinedTree(root, { storage: storageAccess }));
  }
  return roots;
}

/** A path that one mount creates also exists for the other mounts of the call, whatever their order. */
function shareCreation(checked: readonly CheckedMount[]): void {
  const made = new Map<string, MountKey>();
  for (const { mount } of checked) if (mount.create) made.set(`${mount.volumeID}:${mount.subPath}`, mount);
  for (const one of checked) one.mount = { ...made.get(`${one.mount.volumeID}:${one.mount.subPath}`), ...one.mount };
}

/** Creates missing mount points inside read-only mounts in the volume itself, since no engine can create them there. */
async function makeInnerMountPoints(
  mounts: readonly RowMount[],
  { keys, roots, pace }: { keys: ReadonlyMap<string, string>; roots: Roots; pace: () => Promise<void> | undefined },
): Promise<void> {
  if (!mounts.some(({ readOnly }) => readOnly)) return;
  const indexes = new Map(mounts.map(({ target }, index) => [target, index]));
  for (const { target, kind } of mounts) {
    let above = target.slice(0, target.lastIndexOf('/'));
    while (above !== '' && !indexes.has(above)) above = above.slice(0, above.lastIndexOf('/'));
    const index = indexes.get(above);
    const outer = index === undefined ? undefined : mounts[index];
    if (index === undefined || outer?.readOnly !== true) continue;
    const subPath = [outer.subPath, target.slice(above.length + 1)].filter((part) => part !== '').join('/');
    makeMountPoint(keys.get(target)!, { root: roots.get(outer.volumeID)!, subPath, kind });
    await pace();
  }
}

function makeMountPoint(key: string, at: { root: ConfinedTree; subPath: string; kind: 'dir' | 'file' }): void {
  try {
    const found = at.root.stat(at.subPath);
    const isOther = found !== undefined && found.isDirectory() !== (at.kind === 'dir');
    if (isOther) rejectMount(key, `its mount point is in a read-only mount, where '${at.subPath}' is no ${at.kind}`);
    if (found === undefined) ensureSubPath(at.root, at.subPath, at.kind);
  } catch (error) {
    throw mountFault(key, { mount: at, error });
  }
}

/** The row key of an available volume. */
function findVolume(key: string, ref: Ref, store: Store): string {
  const volumeKey = store.get(TABLES.volumeIDs, idKey(ref));
  const volume = volumeKey === undefined ? undefined : store.get(TABLES.volumes, volumeKey);
  if (volumeKey === undefined || volume === undefined) {
    throw new RequestError(
      'MOUNT_VOLUME_UNKNOWN',
      `could not mount '${shorten(key)}' because account ${ref.accountID} has no volume '${shorten(ref.id)}' on cluster ${ref.clusterID}`,
      { details: { field: `volumeMounts.${key}` } },
    );
  }
  if (volume.phase !== 'Available') throw notAvailable(key, volume.phase);
  return volumeKey;
}

function notAvailable(key: string, phase: string, why = ''): RequestError {
  return new RequestError(
    'VOLUME_NOT_AVAILABLE',
    `could not mount '${shorten(key)}' because the volume is ${phase}${why}`,
    {
      details: { field: `volumeMounts.${key}`, phase },
    },
  );
}

/** What exists at the sub-path; undefined if it is to be created. Throws if it cannot be created, without creating it. */
function checkSubPath(key: string, root: ConfinedTree, mount: { subPath: string; create?: 'dir' | 'file' }) {
  try {
    const found = ensureSubPath(root, mount.subPath);
    if (mount.create !== undefined && found !== mount.create) rejectMount(key, `a ${found} is at '${mount.subPath}'`);
    return found;
  } catch (error) {
    if (!isServiceError(error, 'NOT_FOUND') || mount.create === undefined) throw mountFault(key, { mount, error });
    return undefined;
  }
}

function makeSubPath(
  key: string,
  root: ConfinedTree,
  mount: { subPath: string; create?: 'dir' | 'file' },
): 'dir' | 'file' {
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
    return mountRejection(key, `nothing is at '${mount.subPath}' of the volume; add :dir or :file to create it`);
  }
  const isCallersFault = isServiceError(error, 'INVALID_ARGUMENT', 'PERMISSION_DENIED', 'ALREADY_EXISTS');
  return isCallersFault ? mountRejection(key, error.message) : error;
}

function rejectMount(key: string, why: string): never {
  throw mountRejection(key, why);
}

function mountRejection(key: string, why: string): RequestError {
  return new RequestError('MOUNT_INVALID', `could not mount '${shorten(key)}' because ${why}`, {
    details: { field: `volumeMounts.${key}` },
  });
}
