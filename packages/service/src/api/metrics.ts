import { quotaOf } from '../accounts/quota.ts';
import type { Cluster } from '../clusters/cluster.ts';
import type { ServedService } from './served-service.ts';

/** Upper bounds of the latency buckets, in seconds. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;

/** Request metrics of a service, rendered with the state of its clusters in Prometheus' text format. */
export interface Metrics {
  observe(request: { readonly operation: string; readonly status: number; readonly seconds: number }): void;
  render(service: ServedService): string;
}

/** Counts in memory, from 0 at each start. */
export function createMetrics(): Metrics {
  const counts = new Map<string, number>();
  const latency = new Map<string, { buckets: number[]; sum: number; count: number }>();
  return {
    observe({ operation, status, seconds }) {
      const key = `operation="${operation}",status="${status}"`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
      let entry = latency.get(operation);
      if (entry === undefined) {
        entry = { buckets: BUCKETS.map(() => 0), sum: 0, count: 0 };
        latency.set(operation, entry);
      }
      entry.sum += seconds;
      entry.count++;
      const bucket = BUCKETS.findIndex((bound) => seconds <= bound);
      if (bucket !== -1) entry.buckets[bucket]!++;
    },
    render(service) {
      const lines = ['# TYPE sluice_requests_total counter'];
      for (const [labels, count] of [...counts].sort()) lines.push(`sluice_requests_total{${labels}} ${count}`);
      lines.push('# TYPE sluice_request_seconds histogram');
      for (const [operation, entry] of [...latency].sort(([a], [b]) => (a < b ? -1 : 1))) {
        let below = 0;
        BUCKETS.forEach((bound, i) => {
          below += entry.buckets[i]!;
          lines.push(`sluice_request_seconds_bucket{operation="${operation}",le="${bound}"} ${below}`);
        });
        lines.push(`sluice_request_seconds_bucket{operation="${operation}",le="+Inf"} ${entry.count}`);
        lines.push(`sluice_request_seconds_sum{operation="${operation}"} ${entry.sum}`);
        lines.push(`sluice_request_seconds_count{operation="${operation}"} ${entry.count}`);
      }
      return `${[...lines, ...clusterLines(service)].join('\n')}\n`;
    },
  };
}

/** How much each account uses; undefined values are left out of the metrics. */
const ACCOUNT_USE: Readonly<Record<string, (cluster: Cluster, account: string) => number | undefined>> = {
  sluice_account_containers: ({ containers }, account) => containers.containersOf(account).size,
  sluice_account_cores: ({ containers }, account) => containers.coresOf(account),
  sluice_account_volume_bytes: ({ usage }, account) => usage.known(account),
};

function clusterLines(service: ServedService): string[] {
  const lines: string[] = [];
  const gauge = (name: string, values: readonly (readonly [labels: string, value: number])[]) => {
    lines.push(`# TYPE ${name} gauge`, ...values.map(([labels, value]) => `${name}{${labels}} ${value}`));
  };
  const clusters = [...service.clusters.values()];
  gauge(
    'sluice_containers',
    clusters.flatMap((cluster) => {
      const phases = new Map<string, number>();
      for (const { row } of cluster.containers.all()) phases.set(row.phase, (phases.get(row.phase) ?? 0) + 1);
      return [...phases].sort().map(([phase, n]) => [`cluster="${cluster.id}",phase="${phase}"`, n] as const);
    }),
  );
  gauge(
    'sluice_containers_waiting',
    clusters.map(({ id, containers }) => [`cluster="${id}"`, containers.queue.length] as const),
  );
  gauge(
    'sluice_cores_used',
    clusters.map(({ id, containers }) => [`cluster="${id}"`, containers.queue.used.cores] as const),
  );
  for (const [name, usedOf] of Object.entries(ACCOUNT_USE)) {
    gauge(
      name,
      clusters.flatMap((cluster) =>
        cluster.config.accounts.flatMap((account) => {
          const used = usedOf(cluster, account);
          return used === undefined ? [] : [[`cluster="${cluster.id}",account="${account}"`, used] as const];
        }),
      ),
    );
  }
  gauge(
    'sluice_account_quota',
    clusters.flatMap((cluster) =>
      cluster.config.accounts.flatMap((account) =>
        Object.entries(quotaOf(cluster.config, account)).map(
          ([limit, maximum = 0]) => [`cluster="${cluster.id}",account="${account}",limit="${limit}"`, maximum] as const,
        ),
      ),
    ),
  );
  gauge(
    'sluice_engine_up',
    clusters.map(({ id, driver }) => [`cluster="${id}"`, driver.unavailable === undefined ? 1 : 0] as const),
  );
  lines.push(
    '# TYPE process_resident_memory_bytes gauge',
    `process_resident_memory_bytes ${process.memoryUsage.rss()}`,
  );
  return lines;
}
