import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { VolumeCalls } from '../calls/volume-calls.ts';
import type { Cluster } from '../clusters/cluster.ts';
import type { Clock } from '../host/clock.ts';
import { put, remove, type Store, type Table } from '../store/store.ts';
import { idKey, TABLES, timeKey } from '../store/tables.ts';

export interface RetentionOptions {
  readonly store: Store;
  readonly clusters: ReadonlyMap<string, Cluster>;
  readonly volumes: VolumeCalls;
  readonly clock: Clock;
  readonly log: Logger;
  readonly containerMs: number;
  readonly volumeMs: number;
}

/** At most so long between two looks, since a clock may be set and records may come meanwhile. */
const LOOK_MS = 600_000;
/** Removed between two turns of the event loop. */
const BATCH = 100;
/** Looked at between two turns: a millisecond's work. */
const TOKEN_BATCH = 500;

/**
 * Removes ended containers, deleted volumes and expired tokens, now and from then on. Returns what stops it
 * and resolves when nothing is being removed any more.
 */
export function startRetention(options: RetentionOptions): () => Promise<void> {
  let stopped = false;
  let cancel = () => {};
  let inFlight: Promise<void> = Promise.resolve();
  let tokensLooked = Number.NEGATIVE_INFINITY;
  const lookAtAll = async () => {
    const isDone = await sweep(options, () => stopped);
    // Not each time: nothing says which of them are over but a look at all, and there is one for each command of a user.
    if (options.clock.now() - tokensLooked >= LOOK_MS) {
      tokensLooked = options.clock.now();
      await removeExpiredTokens(options, () => stopped);
    }
    return isDone;
  };
  const look = () => {
    inFlight = lookAtAll()
      .catch((error: unknown) => {
        options.log.error({ err: error }, 'could not remove what is past its retention');
        return false;
      })
      .then((isDone) => {
        // What could not be removed is overdue for as long: it must not be tried without a pause.
        if (!stopped) cancel = options.clock.after(isDone ? untilNext(options) : LOOK_MS, look);
      });
    return inFlight;
  };
  void look();
  return () => {
    stopped = true;
    cancel();
    return inFlight;
  };
}

function untilNext({ store, clock, containerMs, volumeMs }: RetentionOptions): number {
  const now = clock.now();
  const next = [
    [TABLES.endedContainers, containerMs],
    [TABLES.deletedVolumes, volumeMs],
  ] as const;
  const waits = next.map(([table, ms]) => {
    for (const [key] of store.range(table, { from: '0', to: ':' })) return Number(key.slice(0, 13)) + ms - now;
    return LOOK_MS;
  });
  return Math.max(1, Math.min(LOOK_MS, ...waits));
}

/** False where something could not be removed. */
async function sweep(options: RetentionOptions, isStopped: () => boolean): Promise<boolean> {
  const { store, clock, log } = options;
  let isDone = true;
  /** One that cannot be removed, perhaps since its storage is away, holds up no other. */
  const removeEach = async (keys: Iterable<string>, purge: (key: string) => Promise<void>) => {
    for (const key of keys) {
      if (isStopped() || store.failure !== undefined) return;
      try {
        await purge(key);
      } catch (error) {
        isDone = false;
        log.error({ err: error, key: key.slice(14) }, 'could not remove what is past its retention');
      }
    }
  };
  const containers = overdue(store, TABLES.endedContainers, clock.now() - options.containerMs);
  await removeEach(containers, (key) => purgeContainer(options, key));
  const volumes = overdue(store, TABLES.deletedVolumes, clock.now() - options.volumeMs);
  await removeEach(volumes, async (key) => {
    await options.volumes.purge(key.slice(14));
    store.write([remove(TABLES.deletedVolumes, key)]);
  });
  return isDone;
}

async function removeExpiredTokens({ store, clock }: RetentionOptions, isStopped: () => boolean): Promise<void> {
  for (let from = ''; !isStopped(); ) {
    const batch: [key: string, expireTime: number][] = [];
    for (const [key, { expireTime }] of store.range(TABLES.tokens, { from, to: '~', after: true })) {
      batch.push([key, expireTime]);
      if (batch.length === TOKEN_BATCH) break;
    }
    const expired = batch.filter(([, expireTime]) => expireTime <= clock.now());
    if (expired.length > 0) store.write(expired.map(([key]) => remove(TABLES.tokens, key)));
    if (batch.length < TOKEN_BATCH) return;
    from = batch.at(-1)![0];
    await nextTurn();
  }
}

/** Keys up to `time`, read in batches so that what is removed meanwhile does not matter. */
function* overdue(store: Store, table: Table<true>, time: number): Iterable<string> {
  const to = timeKey(time + 1);
  for (let from = '0'; ; ) {
    const batch: string[] = [];
    for (const [key] of store.range(table, { from, to, after: true })) {
      batch.push(key);
      if (batch.length === BATCH) break;
    }
    yield* batch;
    if (batch.length < BATCH) return;
    from = batch.at(-1)!;
  }
}

async function purgeContainer({ store, clusters }: RetentionOptions, endKey: string): Promise<void> {
  const rowKey = endKey.slice(14);
  const row = store.get(TABLES.containers, rowKey);
  const cluster = row === undefined ? undefined : clusters.get(row.clusterID);
  const byID = row === undefined ? '' : idKey(row);
  const gone = [
    remove(TABLES.endedContainers, endKey),
    remove(TABLES.endedItems, rowKey),
    // After a deletion the ID may mean another container already.
    ...(store.get(TABLES.containerIDs, byID) === rowKey ? [remove(TABLES.containerIDs, byID)] : []),
  ];
  if (row === undefined || cluster === undefined) {
    // The cluster was taken out of the configuration: its directories are the operator's.
    store.write([...gone, remove(TABLES.containers, rowKey)]);
    return;
  }
  const deleted = { ...row, deleted: true as const };
  store.write([...gone, put(TABLES.containers, rowKey, deleted), put(TABLES.liveContainers, rowKey, true)]);
  await cluster.containers.sweep(rowKey, deleted);
}
