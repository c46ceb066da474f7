import { createHash } from 'node:crypto';
import path from 'node:path';
import type { VolumeFiles } from '@sluice/client';
import { type Disk, runDirectory } from '@sluice/home';
import { z } from 'zod';
import { isWithin } from './is-within.ts';
import { findTreeChange, type TreeChange, type TreeState } from './tree-state.ts';

const stateSchema = z.object({
  volumeID: z.string(),
  path: z.string(),
  hasCells: z.boolean().optional(),
  entries: z.array(
    z.object({
      path: z.string(),
      kind: z.enum(['file', 'dir']),
      size: z.number(),
      modifiedAt: z.number(),
      etag: z.string().optional(),
      link: z.string().optional(),
      sha256: z.string().optional(),
    }),
  ),
});

/** The location of a tree. */
export type TreePlace = Pick<TreeState, 'volumeID' | 'path'>;

/**
 * The states of published trees before containers of a service without read-only mounts had mounted them. They are
 * stored in the home, in the directory of the run that published the tree, and are removed with it.
 */
export interface TreeStates {
  /** Undefined: no such container has ever mounted the tree. */
  find(place: TreePlace): Promise<TreeState | undefined>;
  /** Stores a state durably. If another process has stored one, it stays, and is returned. */
  record(state: TreeState): Promise<TreeState>;
  /** Whether any state is stored for the run that published this tree. Usually there is none, and this is cheap. */
  hasAny(place: TreePlace): Promise<boolean>;
  /** Compares a tree with each stored state of it, of a part of it, or of a tree that contains it. */
  findChange(files: VolumeFiles, place: TreePlace): Promise<TreeChange | undefined>;
  /** Removes the states of a tree that is written again. */
  forget(place: TreePlace): Promise<void>;
}

/** Opens the states of a home. States of trees that belong to no run, such as volumes, are stored with run `runId`. */
export function openTreeStates({ disk, home, runId }: { disk: Disk; home: string; runId?: string }): TreeStates {
  const directoryOf = (place: TreePlace) => ownerDirectory(home, place, runId);
  const fileOf = (place: TreePlace) => path.join(directoryOf(place), `${hash(`${place.volumeID}:${place.path}`)}.json`);

  async function read(file: string): Promise<TreeState | undefined> {
    const bytes = await disk.read(file);
    // `exactOptionalPropertyTypes`: the schema's optional keys may be undefined, JSON's are not.
    return bytes && (stateSchema.parse(JSON.parse(Buffer.from(bytes).toString('utf8'))) as TreeState);
  }

  /** The stored states of the tree, of its parts, and of trees that contain it, with their files. */
  async function* overlapping(place: TreePlace): AsyncGenerator<{ readonly was: TreeState; readonly file: string }> {
    for (const name of await disk.list(directoryOf(place))) {
      const file = path.join(directoryOf(place), name);
      const was = await read(file);
      if (was?.volumeID !== place.volumeID) continue;
      if (isWithin(was.path, place.path) || isWithin(place.path, was.path)) yield { was, file };
    }
  }

  return {
    find: (place) => read(fileOf(place)),
    hasAny: async (place) => (await disk.list(directoryOf(place))).length > 0,
    async record(state) {
      const isFirst = await disk.create(fileOf(state), Buffer.from(JSON.stringify(state)));
      return isFirst ? state : ((await read(fileOf(state))) ?? state);
    },
    async findChange(files, place) {
      for await (const { was } of overlapping(place)) {
        const change = await findTreeChange(files, {
          was,
          ...(was.path.length < place.path.length && { only: place.path }),
        });
        if (change) return change;
      }
      return undefined;
    },
    async forget(place) {
      for await (const { file } of overlapping(place)) await disk.remove(file);
    },
  };
}

function ownerDirectory(home: string, { volumeID, path: at }: TreePlace, runId: string | undefined): string {
  const [, kind, owner = ''] = /^(runs|sources)\/([^/]+)/.exec(at) ?? [];
  if (kind === 'sources') return path.join(home, 'sources', `${volumeID}-${owner}`);
  return path.join(runDirectory(home, kind === 'runs' ? owner : (runId ?? '')), 'inputs');
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
