import type { Cluster } from '../clusters/cluster.ts';
import type { ClusterConfig, ServiceConfig } from './service-config.ts';

/** What became of a changed configuration; fields are named as in the file, clusters by their ID. */
export interface ReloadReport {
  readonly applied: readonly string[];
  /** What differs from the configuration that the service was started with, and is not in force. */
  readonly needsRestart: readonly string[];
}

/** Gives the clusters their accounts and instance types of now, and names every other field that has changed. */
export function reloadConfig({
  started,
  next,
  clusters,
}: {
  started: ServiceConfig;
  next: ServiceConfig;
  clusters: ReadonlyMap<string, Cluster>;
}): ReloadReport {
  const applied: string[] = [];
  const needsRestart = changedFields(started, next, ['clusters']);
  for (const config of next.clusters) {
    const cluster = clusters.get(config.id);
    const before = started.clusters.find(({ id }) => id === config.id);
    if (cluster === undefined || before === undefined) {
      needsRestart.push(`clusters.${config.id}`);
      continue;
    }
    const named = (field: string) => `clusters.${config.id}.${field}`;
    needsRestart.push(...changedFields(before, config, LIVE_FIELDS).map(named));
    const changed = LIVE_FIELDS.filter((field) => !isSame(cluster.config[field], config[field]));
    if (changed.length > 0) cluster.reconfigure(config);
    applied.push(...changed.map(named));
  }
  const gone = started.clusters.filter(({ id }) => next.clusters.every((config) => config.id !== id));
  needsRestart.push(...gone.map(({ id }) => `clusters.${id}`));
  return { applied, needsRestart };
}

/** The fields of a cluster that may change while it works. */
const LIVE_FIELDS = ['accounts', 'instanceTypes'] as const satisfies readonly (keyof ClusterConfig)[];

function changedFields<T extends object>(before: T, after: T, except: readonly (keyof T)[]): string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])] as (keyof T & string)[];
  return names.filter((name) => !except.includes(name) && !isSame(before[name], after[name]));
}

/** Both have come out of the same schema, which orders their fields. */
function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
