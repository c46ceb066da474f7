import type { FastifyInstance } from 'fastify';
import type { ServiceCore } from '../service-core.ts';
import type { Metrics } from './metrics.ts';
import { renderOpenApi } from './openapi.ts';
import { ROUTES } from './routes.ts';

/** What operators and their tools ask. */
export function addOperations(
  api: FastifyInstance,
  core: ServiceCore,
  { metrics, closing }: { readonly metrics: Metrics; readonly closing: AbortSignal },
): void {
  const document = JSON.stringify(renderOpenApi(ROUTES));
  api.get('/openapi.json', { config: { operation: 'openapi' } }, (_, reply) =>
    reply.type('application/json').send(document),
  );
  api.get('/healthz', { config: { operation: 'healthz' } }, (_, reply) =>
    core.failure() === undefined ? reply.send({ status: 'ok' }) : reply.code(503).send({ status: 'the store failed' }),
  );
  api.get('/readyz', { config: { operation: 'readyz' } }, (_, reply) => {
    const engines = Object.fromEntries(
      [...core.clusters.values()].map(({ id, driver }) => [id, driver.unavailable ?? 'ready']),
    );
    const ready = core.failure() === undefined && Object.values(engines).every((state) => state === 'ready');
    return reply.code(ready && !closing.aborted ? 200 : 503).send({ ready, engines });
  });
  api.get('/metrics', { config: { operation: 'metrics' } }, (_, reply) =>
    reply.type('text/plain; version=0.0.4').send(metrics.render(core)),
  );
}
