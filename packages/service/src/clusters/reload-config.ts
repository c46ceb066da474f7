import type { ClusterConfig, ServiceConfig } from '../config/service-config.ts';
import type { Cluster } from './cluster.ts';
import type { ClusterSet } from './cluster-set.ts';

/** What became of a changed configuration; fields are named as in the file, clusters by their ID. */
export interface ReloadReport {
  readonly applied: readonly string[];
  /** What differs from the configuration that the service was started with, and is not in force. */
  readonly needsRestart: readonly string[];
  /** What could be added or removed, but for the reason given. */
  readonly refused: readonly { readonly field: string; readonly reason: string }[];
}

/**
 * Gives the clusters their accounts and instance types of now, opens new clusters, closes those that are gone, and
 * names every other field that has changed. `listen` is left to the caller that listens.
 */
export async function reloadConfig({
  started,
  next,
  clusters,
}: {
  started: ServiceConfig;
  next: ServiceConfig;
  clusters: ClusterSet;
}): Promise<ReloadReport> {
  const applied: string[] = [];
  const refused: { field: string; reason: string }[] = [];
  const needsRestart = changedFields(started, next, ['clusters', 'listen']);
  const settle = (id: string, reason: string | undefined) => {
    const field = `clusters.${id}`;
    if (reason === undefined) applied.push(field);
    else refused.push({ field, reason });
  };
  const ids = next.clusters.map(({ id }) => id);
  for (const id of [...clusters.keys()]) if (!ids.includes(id)) settle(id, await clusters.remove(id));
  for (const config of next.clusters) {
    const cluster = clusters.get(config.id);
    if (cluster === undefined) {
      settle(config.id, await clusters.add(config, next));
      continue;
    }
    const named = (field: string) => `clusters.${config.id}.${field}`;
    needsRestart.push(...changedFields(cluster.config, config, LIVE_FIELDS).map(named));
    applied.push(...reconfigure(cluster, config).map(named));
  }
  clusters.sort(ids);
  return { applied, needsRestart, refused };
}

/** The fields of a cluster that may change while it works. */
const LIVE_FIELDS = ['accounts', 'instanceTypes', 'quota'] as const satisfies readonly (keyof ClusterConfig)[];

function reconfigure(cluster: Cluster, config: ClusterConfig): readonly string[] {
  const changed = LIVE_FIELDS.filter((field) => !isSame(cluster.config[field], config[field]));
  if (changed.length > 0) cluster.reconfigure(config);
  return changed;
}

function changedFields<T extends object>(before: T, after: T, except: readonly (keyof T)[]): string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])] as (keyof T & string)[];
  return names.filter((name) => !except.includes(name) && !isSame(before[name], after[name]));
}

/** Both have come out of the same schema, which orders their fields. */
function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
