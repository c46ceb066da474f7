import type { ClusterList } from '@sluice/host';
import { useEffect, useState } from 'preact/hooks';
import { useReply } from '../live/use-reply.ts';
import { renderCount } from '../model/render-count.ts';

const REFRESH_MS = 15_000;
const PERCENT = 100;

/** Pools and clusters with their load. Not shown if there is nothing to show. */
export function ClusterPanel() {
  const [version, setVersion] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setVersion((count) => count + 1), REFRESH_MS);
    return () => clearInterval(timer);
  }, []);
  const { value } = useReply<ClusterList>('clusters', {}, version);
  if (value === undefined || value.clusters.length + value.pools.length === 0) return null;
  return (
    <section class="panel" aria-labelledby="clusters">
      <h2 id="clusters">Pools and clusters</h2>
      {value.message !== undefined && <p class="bad">{value.message}</p>}
      {value.pools.map((pool) => (
        <Pool key={pool.name} pool={pool} />
      ))}
      {value.clusters.map((cluster) => (
        <Cluster key={`${cluster.clusterId}/${cluster.accountId}`} cluster={cluster} />
      ))}
    </section>
  );
}

function Pool({ pool }: { pool: ClusterList['pools'][number] }) {
  const { name, size, used, waiting } = pool;
  const share = size === undefined || size === 0 ? 0 : Math.min(PERCENT, (PERCENT * used) / size);
  const words = `${used} of ${size ?? '?'} slots in use${waiting > 0 ? `, ${waiting} awaited` : ''}`;
  return (
    <div class="load">
      <b>{name}</b> <span class="soft">{words}</span>
      <span class="count-bar" aria-hidden="true">
        <span class="tone-busy" style={{ width: `${share}%` }} />
      </span>
    </div>
  );
}

function Cluster({ cluster }: { cluster: ClusterList['clusters'][number] }) {
  const { clusterId, accountId, containers, instanceTypes } = cluster;
  const phases = Object.entries(containers).map(([phase, count]) => `${renderCount(count)} ${phase}`);
  return (
    <div class="load">
      <b>{clusterId}</b> <span class="soft">{accountId}</span>
      <span class="soft block">{phases.length === 0 ? 'no containers' : `containers: ${phases.join(', ')}`}</span>
      <details>
        <summary class="soft">
          {instanceTypes.length} instance {instanceTypes.length === 1 ? 'type' : 'types'}
        </summary>
        <ul>
          {instanceTypes.map(({ id, cpu, memoryGB, gpu }) => (
            <li key={id}>
              {id}{' '}
              <span class="soft">{`${cpu} cores, ${memoryGB} GB${gpu === undefined || gpu === 0 ? '' : `, ${gpu} GPUs`}`}</span>
            </li>
          ))}
        </ul>
      </details>
    </div>
  );
}
