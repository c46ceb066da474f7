import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { VolumeCalls } from '../calls/volume-calls.ts';
import type { Cluster } from '../containers/cluster.ts';
import type { Clock } from '../protocol/clock.ts';
import { put, remove, type Store, type Table } from '../store/store.ts';
import { idKey, TABLES, timeKey } from '../store/tables.ts';
import type { RetentionTime } from './retention-time.ts';

/** What `startRetention` removes, and after which time. */
export interface RetentionOptions {
  readonly store: Store;
  readonly clusters: ReadonlyMap<string, Cluster>;
  readonly volumes: VolumeCalls;
  readonly clock: Clock;
  readonly time: RetentionTime;
  readonly log: Logger;
  readonly containerMs: number;
  readonly volumeMs: number;
}

/** The longest interval between two sweeps, since the clock may be set and new records may be added. */
const MAX_INTERVAL_MS = 600_000;
/** Records read at a time. */
const BATCH = 100;
/** Tokens checked per turn of the event loop: about a millisecond of work. */
const TOKEN_BATCH = 500;

/**
 * Removes expired containers, volumes and tokens, now and continuously. Returns a function that stops this; its promise
 * resolves when no removal is in progress.
 */
export function startRetention(options: RetentionOptions): () => Promise<void> {
  let stopped = false;
  let cancel = () => {};
  let inFlight: Promise<void> = Promise.resolve();
  let tokensSwept = Number.NEGATIVE_INFINITY;
  const { clock, time } = options;
  const sweepAll = async () => {
    const isDone = await sweep(options, () => stopped);
    // Less often, because finding expired tokens means reading all of them.
    if (clock.now() - tokensSwept >= MAX_INTERVAL_MS) {
      tokensSwept = clock.now();
      await removeExpiredTokens(options, () => stopped);
    }
    return isDone;
  };
  const run = () => {
    inFlight = sweepAll()
      .catch((error: unknown) => {
        options.log.error({ err: error }, 'could not remove expired records');
        return false;
      })
      .then((isDone) => {
        // A record that could not be removed stays overdue and must not be retried without a pause.
        if (stopped) return;
        const pauseMs = isDone ? untilNext(options) : MAX_INTERVAL_MS;
        cancel = clock.after(pauseMs, () => {
          time.observe(pauseMs);
          return run();
        });
      });
    return inFlight;
  };
  void run();
  return () => {
    stopped = true;
    cancel();
    return inFlight;
  };
}

function untilNext({ store, time, containerMs, volumeMs }: RetentionOptions): number {
  const now = time.now();
  const next = [
    [TABLES.endedContainers, containerMs],
    [TABLES.deletedVolumes, volumeMs],
  ] as const;
  const waits = next.map(([table, ms]) => {
    for (const [key] of store.range(table, { from: '0', to: ':' })) return Number(key.slice(0, 13)) + ms - now;
    return MAX_INTERVAL_MS;
  });
  return Math.max(1, Math.min(MAX_INTERVAL_MS, ...waits));
}

/** Returns false if something could not be removed. */
async function sweep(options: RetentionOptions, isStopped: () => boolean): Promise<boolean> {
  const { store, time, log } = options;
  let isDone = true;
  /** A failure, for example because a cluster's storage is unavailable, does not stop the other removals. */
  const removeEach = async (keys: Iterable<string>, purge: (key: string) => Promise<void>) => {
    for (const key of keys) {
      if (isStopped() || store.failure !== undefined) return;
      try {
        await purge(key);
      } catch (error) {
        isDone = false;
        log.error({ err: error, key: key.slice(14) }, 'could not remove an expired record');
      }
    }
  };
  const containers = overdue(store, TABLES.endedContainers, time.now() - options.containerMs);
  await removeEach(containers, (key) => purgeContainer(options, key));
  const volumes = overdue(store, TABLES.deletedVolumes, time.now() - options.volumeMs);
  await removeEach(volumes, async (key) => {
    const outcome = await options.volumes.purge(key.slice(14), key.slice(0, 13));
    if (outcome === 'kept') store.write([remove(TABLES.deletedVolumes, key)]);
    else if (outcome !== 'purged') isDone = false;
  });
  return isDone;
}

async function removeExpiredTokens({ store, time }: RetentionOptions, isStopped: () => boolean): Promise<void> {
  for (let from = ''; !isStopped(); ) {
    const batch: [key: string, expireTime: number][] = [];
    for (const [key, { expireTime }] of store.range(TABLES.tokens, { from, to: '~', after: true })) {
      batch.push([key, expireTime]);
      if (batch.length === TOKEN_BATCH) break;
    }
    const expired = batch.filter(([, expireTime]) => expireTime <= time.now());
    if (expired.length > 0) store.write(expired.map(([key]) => remove(TABLES.tokens, key)));
    if (batch.length < TOKEN_BATCH) return;
    from = batch.at(-1)![0];
    await nextTurn();
  }
}

/** Keys up to `time`, read in batches, so that rows may be removed during the iteration. */
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
  const byId = row === undefined ? '' : idKey(row);
  const removals = [
    remove(TABLES.endedContainers, endKey),
    remove(TABLES.endedItems, rowKey),
    // The ID may already belong to a newer container.
    ...(store.get(TABLES.containerIDs, byId) === rowKey ? [remove(TABLES.containerIDs, byId)] : []),
  ];
  if (row === undefined || cluster === undefined) {
    // The cluster is no longer in the configuration, so its directories are left to the operator.
    store.write([...removals, remove(TABLES.containers, rowKey)]);
    return;
  }
  const deleted = { ...row, deleted: true as const };
  store.write([...removals, put(TABLES.containers, rowKey, deleted), put(TABLES.liveContainers, rowKey, true)]);
  await cluster.containers.sweep(rowKey, deleted);
}
