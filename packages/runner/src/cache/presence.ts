import type { VolumeFiles } from '@sluice/client';
import type { Clock } from '@sluice/home';
import type { WorkspaceFiles } from '../data/prepare-volumes.ts';
import { allowAbsent } from '../trees/list-tree.ts';

/** A path in the run's workspace on a cluster. */
interface WorkspacePath {
  readonly clusterID: string;
  readonly path: string;
}

/** Checks whether published data still exists in the volume. */
export interface Presence {
  isThere(at: WorkspacePath): Promise<boolean>;
  /** Whether a directory has an entry of this name. The directory's list is cached for `FRESH_MS`. */
  has(directory: WorkspacePath, name: string): Promise<boolean>;
}

const FRESH_MS = 5000;

/** The checks send requests through `workspace` and throw its `ServiceError`s. */
export function createPresence(workspace: WorkspaceFiles, clock: Clock): Presence {
  const lists = new Map<string, { readonly until: number; readonly names: Promise<ReadonlySet<string>> }>();
  return {
    isThere: async ({ clusterID, path }) => (await workspace(clusterID).stat(path)) !== undefined,
    async has({ clusterID, path }, name) {
      const key = `${clusterID}:${path}`;
      let list = lists.get(key);
      if (!list || list.until < clock.now()) {
        list = { until: clock.now() + FRESH_MS, names: listNames(workspace(clusterID), path) };
        lists.set(key, list);
      }
      return (await list.names).has(name);
    },
  };
}

async function listNames(files: VolumeFiles, directory: string): Promise<ReadonlySet<string>> {
  const entries = await allowAbsent(files).list(directory);
  return new Set(entries.map(({ path }) => path.slice(directory.length + 1)));
}
