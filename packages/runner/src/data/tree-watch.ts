import { createHash } from 'node:crypto';
import type { VolumeFiles } from '@sluice/client';
import type { RunSession } from '../session/run-session.ts';
import { describeTreeChange, findTreeChange, readTreeState, type TreeState } from '../trees/tree-state.ts';
import type { TreeStates } from '../trees/tree-states.ts';

/** Compares one tree that containers read with how it was before the first of them. */
export interface TreeWatch {
  /** What has changed, once something has: for good, since what was read in between cannot be known. */
  readonly change: string | undefined;
  /** Before a container is given the tree: notes how it is, or compares it if one has had it since the last comparison. */
  admit(): Promise<string | undefined>;
  /** Compares the tree as it is from now on. Throws `ServiceError`. */
  compare(): Promise<string | undefined>;
  /** A container that had the tree has ended. */
  suspect(): void;
}

export interface WatchedTree {
  readonly tree: Omit<TreeState, 'entries'>;
  readonly states: TreeStates;
  readonly files: VolumeFiles;
}

/** Creates a `TreeWatch`. */
export function createTreeWatch(session: RunSession, { tree, states, files }: WatchedTree): TreeWatch {
  const { volumeID, path, hasCells } = tree;
  const place = { volumeID, path, ...(hasCells && { hasCells }) };
  let change: string | undefined;
  let isSuspect = false;
  let known: Promise<TreeState> | undefined;
  /** A comparison that has not begun: it serves everybody who asks before it does. */
  let next: Promise<string | undefined> | undefined;
  let last: Promise<unknown> = Promise.resolve();

  function state(): Promise<TreeState> {
    known ??= load().catch((error: unknown) => {
      known = undefined;
      throw error;
    });
    return known;
  }

  async function load(): Promise<TreeState> {
    const found = await states.find(place);
    const read = found ?? (await session.calls.add(() => readTreeState(files, place)));
    const kept = found ?? (await states.keep(read));
    // Of another run or runner: its containers may have changed the tree since.
    if (kept !== read || found !== undefined) isSuspect = true;
    await noteState(kept);
    return kept;
  }

  /** The journal says what the tree was, so that a resumed run does not take data that was made anew for its own. */
  async function noteState(kept: TreeState): Promise<void> {
    const digest = createHash('sha256').update(JSON.stringify(kept)).digest('hex').slice(0, 32);
    const noted = session.facts.inputStates.get(`${volumeID}:${path}`);
    if (noted !== undefined) {
      if (noted !== digest) change ??= 'it was replaced while the run was suspended';
      return;
    }
    session.note({ kind: 'inputState', volumeID, path, digest });
    await session.durable();
  }

  async function compareNow(): Promise<string | undefined> {
    next = undefined;
    if (change !== undefined) return change;
    const was = await state();
    isSuspect = false;
    try {
      const found = await session.calls.add(() => findTreeChange(files, { was }));
      if (found) change ??= describeTreeChange(found);
    } catch (error) {
      isSuspect = true;
      throw error;
    }
    return change;
  }

  function compare(): Promise<string | undefined> {
    if (change !== undefined) return Promise.resolve(change);
    next ??= last.then(compareNow);
    last = next.catch(() => {});
    return next;
  }

  return {
    get change() {
      return change;
    },
    async admit() {
      await state();
      if (isSuspect) return compare();
      // One that is under way tells of every container that has ended.
      await last;
      return change;
    },
    compare,
    suspect() {
      isSuspect = true;
    },
  };
}
