import {
  createCounter,
  createHistogram,
  type MetricFamily,
  type MetricSample,
  measureProcess,
  renderMetrics,
} from '@sluice/host-system';
import { quotaOf } from '../accounts/quota.ts';
import type { Cluster } from '../containers/cluster.ts';
import type { ServedService } from './served-service.ts';

/** Upper bounds of the latency buckets, in seconds. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;

/** Request metrics of a service, rendered with the state of its clusters in Prometheus' text format. */
export interface Metrics {
  observe(request: { readonly operation: string; readonly status: number; readonly seconds: number }): void;
  render(service: ServedService): Promise<string>;
}

/** Counts in memory, from 0 at each start. */
export function createMetrics(): Metrics {
  const requests = createCounter({ name: 'sluice_requests_total', help: 'Requests by operation and status' });
  const latency = createHistogram(
    { name: 'sluice_request_seconds', help: 'Time until a request was answered' },
    BUCKETS,
  );
  const readProcess = measureProcess();
  return {
    observe({ operation, status, seconds }) {
      requests.add({ operation, status: String(status) });
      latency.observe(seconds, { operation });
    },
    render: async (service) =>
      renderMetrics([
        ...[requests.family(), latency.family(), ...listClusterMetrics([...service.clusters.values()])],
        await measureInodes([...service.clusters.values()]),
        measureRetention(service),
        ...readProcess(),
        ...(await service.furtherMetrics()),
      ]),
  };
}

/** How much each account uses; undefined values are left out of the metrics. */
const ACCOUNT_USE: readonly {
  readonly name: string;
  readonly help: string;
  readonly usedBy: (cluster: Cluster, account: string) => number | undefined;
}[] = [
  {
    name: 'sluice_account_containers',
    help: 'Containers of an account that have not ended',
    usedBy: ({ containers }, account) => containers.containersOf(account).size,
  },
  {
    name: 'sluice_account_cores',
    help: 'Cores of an account in use',
    usedBy: ({ containers }, account) => containers.coresOf(account),
  },
  {
    name: 'sluice_account_volume_bytes',
    help: 'Size of the volumes of an account when they were last measured',
    usedBy: ({ usage }, account) => usage.known(account),
  },
];

function listClusterMetrics(clusters: readonly Cluster[]): MetricFamily[] {
  const gauge = (name: string, help: string, list: (cluster: Cluster) => readonly MetricSample[]): MetricFamily => ({
    ...{ name, help },
    type: 'gauge',
    samples: clusters.flatMap((cluster) =>
      list(cluster).map(({ labels, value }) => ({ labels: { cluster: cluster.id, ...labels }, value })),
    ),
  });
  return [
    gauge('sluice_containers', 'Containers that are known, by phase', countPhases),
    gauge('sluice_containers_waiting', 'Containers that wait for capacity', ({ containers }) => [
      { value: containers.queue.length },
    ]),
    gauge('sluice_cores_used', 'Cores in use', ({ containers }) => [{ value: containers.queue.used.cores }]),
    ...ACCOUNT_USE.map(({ name, help, usedBy }) =>
      gauge(name, help, (cluster) =>
        cluster.config.accounts.flatMap((account) => {
          const value = usedBy(cluster, account);
          return value === undefined ? [] : [{ labels: { account }, value }];
        }),
      ),
    ),
    gauge('sluice_account_quota', 'The most that an account may use', ({ config }) =>
      config.accounts.flatMap((account) =>
        Object.entries(quotaOf(config, account)).map(([limit, value = 0]) => ({ labels: { account, limit }, value })),
      ),
    ),
    gauge('sluice_engine_up', 'Whether the engine answers', ({ driver }) => [
      { value: driver.unavailable === undefined ? 1 : 0 },
    ]),
  ];
}

/** Storages without a limit, and those that do not answer, have no sample. */
async function measureInodes(clusters: readonly Cluster[]): Promise<MetricFamily> {
  const measure = async ({ id, freeInodes }: Cluster) => ({ labels: { cluster: id }, value: await freeInodes() });
  const measured = await Promise.all(clusters.map(measure));
  const samples = measured.flatMap(({ labels, value = Number.POSITIVE_INFINITY }) =>
    Number.isFinite(value) ? [{ labels, value }] : [],
  );
  const help = 'Files that can be created in the storage of a cluster';
  return { name: 'sluice_storage_inodes_free', help, type: 'gauge', samples };
}

/** The last observation may be minutes old. */
function measureRetention({ clock, retentionTime }: ServedService): MetricFamily {
  const help = 'How far the clock is ahead of the time that removals use; a day or more while the clock is not trusted';
  const value = Math.max(0, clock.now() - retentionTime()) / 1000;
  return { name: 'sluice_retention_behind_seconds', help, type: 'gauge', samples: [{ value }] };
}

function countPhases({ containers }: Cluster): MetricSample[] {
  const phases = new Map<string, number>();
  for (const { row } of containers.all()) phases.set(row.phase, (phases.get(row.phase) ?? 0) + 1);
  return [...phases].sort().map(([phase, value]) => ({ labels: { phase }, value }));
}
