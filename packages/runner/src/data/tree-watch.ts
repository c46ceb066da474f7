import { createHash } from 'node:crypto';
import type { VolumeFiles } from '@sluice/client';
import type { RunSession } from '../session/run-session.ts';
import { describeTreeChange, findTreeChange, readTreeState, type TreeState } from '../trees/tree-state.ts';
import type { TreeStates } from '../trees/tree-states.ts';

/** Compares one tree that containers read with its state before the first of them. */
export interface TreeWatch {
  /** A description of the first change that was found. It is never reset, since it is unknown what containers have read. */
  readonly change: string | undefined;
  /**
   * To be called before a container mounts the tree: records its state, or compares it if a container has mounted it since
   * the last comparison. Resolves to `change`. Throws `ServiceError`.
   */
  admit(): Promise<string | undefined>;
  /** Compares the present tree. Resolves to `change`. Throws `ServiceError`. */
  compare(): Promise<string | undefined>;
  /** To be called when a container that mounted the tree has ended. */
  suspect(): void;
}

/** A tree with the recorded states of the home, and access to its volume. */
export interface WatchedTree {
  readonly tree: Omit<TreeState, 'entries'>;
  readonly states: TreeStates;
  readonly files: VolumeFiles;
}

/** Concurrent calls share a comparison if it has not started yet. */
export function createTreeWatch(session: RunSession, watched: WatchedTree): TreeWatch {
  let change: string | undefined;
  let isSuspect = false;
  /** A comparison that has not started. */
  let next: Promise<string | undefined> | undefined;
  let last: Promise<unknown> = Promise.resolve();

  const original = onceUnlessFailed(async () => {
    const { state, isOlder, isReplaced } = await loadOriginal(session, watched);
    if (isOlder) isSuspect = true;
    if (isReplaced) change ??= 'it was replaced while the run was suspended';
    return state;
  });

  async function compareNow(): Promise<string | undefined> {
    next = undefined;
    if (change !== undefined) return change;
    const was = await original();
    isSuspect = false;
    try {
      const found = await session.calls.add(() => findTreeChange(watched.files, { was }));
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
      await original();
      // A comparison in progress covers every container that has ended, unless it fails.
      if (!isSuspect) await last;
      return isSuspect ? compare() : change;
    },
    compare,
    suspect() {
      isSuspect = true;
    },
  };
}

/** Calls `load` only once, or again after a failure. */
function onceUnlessFailed<T>(load: () => Promise<T>): () => Promise<T> {
  let loaded: Promise<T> | undefined;
  return () => {
    loaded ??= load().catch((error: unknown) => {
      loaded = undefined;
      throw error;
    });
    return loaded;
  };
}

interface Original {
  readonly state: TreeState;
  /** Recorded by another run or runner, whose containers may have changed the tree in the meantime. */
  readonly isOlder: boolean;
  /** The journal has another state. */
  readonly isReplaced: boolean;
}

/** The recorded state of the tree, or its present state, which then is recorded. */
async function loadOriginal(session: RunSession, { tree, states, files }: WatchedTree): Promise<Original> {
  const { volumeID, path, hasCells } = tree;
  const place = { volumeID, path, ...(hasCells && { hasCells }) };
  const found = await states.find(place);
  const read = found ?? (await session.calls.add(() => readTreeState(files, place)));
  const state = found ?? (await states.record(read));
  const isOlder = state !== read || found !== undefined;
  return { state, isOlder, isReplaced: await isReplaced(session, state) };
}

/** Journals the state of the tree, so that a resumed run detects data that was recreated in the meantime. */
async function isReplaced(session: RunSession, state: TreeState): Promise<boolean> {
  const { volumeID, path } = state;
  const digest = createHash('sha256').update(JSON.stringify(state)).digest('hex').slice(0, 32);
  const journaled = session.facts.inputStates.get(`${volumeID}:${path}`);
  if (journaled !== undefined) return journaled !== digest;
  session.note({ kind: 'inputState', volumeID, path, digest });
  await session.durable();
  return false;
}
