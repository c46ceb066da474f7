import { isServiceError, type VolumeFiles } from '@sluice/client';
import type { Clock } from '../clock.ts';

/** Whether published data is still in the volume. */
export interface Presence {
  isThere(path: string): Promise<boolean>;
  /** Whether a directory has an entry of this name: one list answers for all entries of a directory for a while. */
  has(directory: string, name: string): Promise<boolean>;
}

const FRESH_MS = 5000;

export function createPresence(workspace: () => VolumeFiles, clock: Clock): Presence {
  const lists = new Map<string, { readonly until: number; readonly names: Promise<ReadonlySet<string>> }>();
  return {
    isThere: async (path) => (await workspace().stat(path)) !== undefined,
    async has(directory, name) {
      let list = lists.get(directory);
      if (!list || list.until < clock.now()) {
        list = { until: clock.now() + FRESH_MS, names: listNames(workspace(), directory) };
        lists.set(directory, list);
      }
      return (await list.names).has(name);
    },
  };
}

async function listNames(files: VolumeFiles, directory: string): Promise<ReadonlySet<string>> {
  try {
    const entries = await files.list(directory);
    return new Set(entries.map(({ path }) => path.slice(directory.length + 1)));
  } catch (error) {
    if (isServiceError(error, 'NOT_FOUND')) return new Set();
    throw error;
  }
}
