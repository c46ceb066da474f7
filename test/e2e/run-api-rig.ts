import { addRunApi, openRunApi, type RunApiOptions } from '@sluice/host';
import Fastify, { type FastifyInstance } from 'fastify';

/** A server with the run API of a home, without a check of who calls. Each has a port of its own: clients keep connections. */
export interface ServedApi {
  readonly url: string;
  /** As a lost connection: without a regular end. */
  kill(): Promise<void>;
  close(): Promise<void>;
}

export async function serveRunApi(options: Omit<RunApiOptions, 'userName'>): Promise<ServedApi> {
  const server: FastifyInstance = Fastify({ forceCloseConnections: true });
  const api = openRunApi({ ...options, userName: 'tester' });
  await addRunApi(server, api);
  await server.listen({ host: '127.0.0.1', port: 0 });
  const address = server.server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  const close = async () => {
    await api.close();
    await server.close();
  };
  return {
    url: `http://127.0.0.1:${address.port}/api/sluice/v1`,
    async kill() {
      server.server.closeAllConnections();
      await close();
    },
    close,
  };
}
