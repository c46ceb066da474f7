import { METRICS_TYPE, type MetricFamily, renderMetrics } from '@sluice/host-system';
import type { FastifyInstance } from 'fastify';

/** Serves metrics at `/metrics`, without a session: they contain numbers only, and no other machine can connect. */
export function addMetrics(server: FastifyInstance, read: () => Promise<readonly MetricFamily[]>): void {
  server.get('/metrics', { config: { isPublic: true } }, async (_, reply) =>
    reply
      .header('cache-control', 'no-store')
      .type(METRICS_TYPE)
      .send(renderMetrics(await read())),
  );
}
