import type { ClusterConfig, ServiceConfig } from '../config/service-config.ts';
import type { Cluster } from './cluster.ts';
import type { ClusterSet } from './cluster-set.ts';

/** The result of a reload. Fields are named as in the file, with the IDs of clusters. */
export interface ReloadReport {
  /** Fields that are in effect now. */
  readonly applied: readonly string[];
  /** Fields that differ from the configuration at the start and take effect only after a restart. */
  readonly needsRestart: readonly string[];
  /** Clusters that could not be added or removed, with the reason. */
  readonly rejected: readonly { readonly field: string; readonly reason: string }[];
}

/**
 * Applies changed accounts, instance types and quotas, opens new clusters, closes removed ones, and lists all other changed
 * fields. The caller handles `listen`.
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
  const rejected: { field: string; reason: string }[] = [];
  const needsRestart = changedFields(started, next, ['clusters', 'listen']);
  const settle = (id: string, reason: string | undefined) => {
    const field = `clusters.${id}`;
    if (reason === undefined) applied.push(field);
    else rejected.push({ field, reason });
  };
  const ids = next.clusters.map(({ id }) => id);
  for (const id of [...clusters.keys()]) if (!ids.includes(id)) settle(id, await clusters.remove(id));
  const added = next.clusters.filter(({ id }) => !clusters.has(id));
  const faults = await clusters.add(added, next);
  for (const config of next.clusters) {
    const cluster = clusters.get(config.id);
    if (cluster === undefined || added.includes(config)) {
      settle(config.id, faults[added.indexOf(config)]);
      continue;
    }
    const named = (field: string) => `clusters.${config.id}.${field}`;
    needsRestart.push(...changedFields(cluster.config, config, LIVE_FIELDS).map(named));
    applied.push(...reconfigure(cluster, config).map(named));
  }
  clusters.sort(ids);
  return { applied, needsRestart, rejected };
}

/** The fields of a cluster that can change without a restart. */
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

/** Both values are parsed by the same schema, so their fields have the same order. */
function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
