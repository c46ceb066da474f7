import { randomBytes } from 'node:crypto';
import type { Entry, RunList } from '../runs/run-list.ts';
import type { StreamEvents } from '../schemas/events.ts';
import { encodeData } from './encode-data.ts';

const POLL_MS = 2_000;
/** A home with thousands of unfinished runs is read less often: polling uses at most this part of a processor. */
const MAX_SHARE = 0.05;
/** A client without a valid point gets this many runs, and all that have not ended. */
const FIRST_RUNS = 200;

/** Changes of the list of runs, encoded once for all receivers, with the point that the receiver then has reached. */
export type ListListener = (data: Uint8Array, point: string) => void;

/** The list of runs for many clients. */
export interface ListFeed {
  /** Passes the changes after `from`, and then all others, until the returned function is called. */
  join(from: string | undefined, listener: ListListener): () => void;
}

interface Known {
  /** Undefined after its removal. */
  readonly entry: Entry | undefined;
  readonly text: string;
  readonly version: number;
}

/** What a client gets that has reached the version `from`. */
interface Changes {
  readonly from: number;
  readonly to: number;
  /** Undefined: nothing that concerns it. */
  readonly data: Uint8Array | undefined;
}

/** Reads the list at intervals while it has listeners. */
export function createListFeed(list: RunList): ListFeed {
  const instance = randomBytes(6).toString('hex');
  /** In the order of the changes. */
  const known = new Map<string, Known>();
  const listeners = new Map<ListListener, number>();
  let version = 0;
  /** The last one that was sent: many clients have reached the same point. */
  let sent: Changes | undefined;
  let isPolling = false;
  let timer: NodeJS.Timeout | undefined;

  async function poll(): Promise<void> {
    isPolling = true;
    clearTimeout(timer);
    const began = performance.now();
    try {
      const runs = await list.read();
      const found = new Set(runs.map(({ runId }) => runId));
      for (const entry of await list.describe(runs.toReversed())) note(entry.runId, entry);
      for (const runId of known.keys()) if (!found.has(runId)) note(runId, undefined);
      for (const [listener, from] of [...listeners]) send(listener, from);
    } finally {
      isPolling = false;
      const pause = Math.max(POLL_MS, (performance.now() - began) / MAX_SHARE);
      if (listeners.size > 0) timer = setTimeout(() => void poll().catch(() => {}), pause);
    }
  }

  function note(runId: string, entry: Entry | undefined): void {
    const text = JSON.stringify(entry) ?? '';
    if (known.get(runId)?.text === text) return;
    known.delete(runId);
    known.set(runId, { entry, text, version: ++version });
  }

  function send(listener: ListListener, from: number): void {
    listeners.set(listener, version);
    if (sent?.from !== from || sent.to !== version) sent = { from, to: version, data: findChanges(known, from) };
    if (sent.data !== undefined) listener(sent.data, `${instance}.${version}`);
  }

  return {
    join(from, listener) {
      const [, of, at] = /^([0-9a-f]+)\.(\d{1,15})$/.exec(from ?? '') ?? [];
      const start = of === instance ? Number(at) : 0;
      listeners.set(listener, start);
      // The list may be old if it had no listeners.
      if (!isPolling) void poll().catch(() => {});
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0) clearTimeout(timer);
      };
    },
  };
}

/** What has changed after a version; undefined if nothing that concerns a client. */
function findChanges(known: ReadonlyMap<string, Known>, from: number): Uint8Array | undefined {
  const changed = [...known].filter(([, one]) => one.version > from);
  const all = changed.flatMap(([, { entry }]) => (entry === undefined ? [] : [entry])).toReversed();
  const runs = from > 0 ? all : all.filter(({ endedAt }, index) => index < FIRST_RUNS || endedAt === undefined);
  const removed = from > 0 ? changed.flatMap(([runId, { entry }]) => (entry === undefined ? [runId] : [])) : [];
  if (runs.length === 0 && removed.length === 0) return undefined;
  return encodeData({ runs, removed } satisfies StreamEvents['runs']);
}
