import { METRICS_TYPE } from '@sluice/host-system';
import type { FastifyInstance } from 'fastify';
import { hasFewInodes } from '../calls/check-storage.ts';
import type { Cluster } from '../containers/cluster.ts';
import type { Metrics } from './metrics.ts';
import { renderOpenApi } from './openapi.ts';
import { ROUTES } from './routes.ts';
import type { ServedService } from './served-service.ts';

/** Adds the endpoints for operators: the OpenAPI document, health, readiness and metrics. None needs a token. */
export function addOperations(
  api: FastifyInstance,
  service: ServedService,
  { metrics, closing }: { readonly metrics: Metrics; readonly closing: AbortSignal },
): void {
  const document = JSON.stringify(renderOpenApi(ROUTES));
  api.get('/openapi.json', { config: { operation: 'openapi' } }, (_, reply) =>
    reply.type('application/json').send(document),
  );
  // A full disk is reported by `/readyz` only: it is temporary, and a restart would not help.
  api.get('/healthz', { config: { operation: 'healthz' } }, (_, reply) =>
    service.failure() === undefined
      ? reply.send({ status: 'ok' })
      : reply.code(503).send({ status: 'the store failed' }),
  );
  // Unauthenticated, so it does not say why an engine is unavailable. The log does.
  api.get('/readyz', { config: { operation: 'readyz' } }, async (_, reply) => {
    const clusters = [...service.clusters.values()];
    const engines = Object.fromEntries(
      clusters.map(({ id, driver }) => [id, driver.unavailable === undefined ? 'ready' : 'not ready']),
    );
    const states = await Promise.all(clusters.map(async (cluster) => [cluster.id, await storageState(cluster)]));
    const storages: Record<string, string> = Object.fromEntries(states);
    const store = await storeState(service);
    const ready =
      !closing.aborted &&
      [store, ...Object.values(engines), ...Object.values(storages)].every((state) => state === 'ready');
    return reply.code(ready ? 200 : 503).send({ ready, store, engines, storages });
  });
  api.get('/metrics', { config: { operation: 'metrics' } }, async (_, reply) =>
    reply.type(METRICS_TYPE).send(await metrics.render(service)),
  );
}

/** The disk of the root has the store, and also the runs that the service hosts. */
async function storeState(service: ServedService): Promise<string> {
  if (service.failure() !== undefined) return 'failed';
  if (service.store.shortage !== undefined) return 'its disk is full';
  const free = await service.freeInodes();
  if (free === undefined) return 'its disk does not answer';
  return hasFewInodes(free) ? 'its disk has too few free inodes' : 'ready';
}

async function storageState({ freeInodes }: Cluster): Promise<string> {
  const free = await freeInodes();
  if (free === undefined) return 'does not answer';
  return hasFewInodes(free) ? 'has too few free inodes' : 'ready';
}
