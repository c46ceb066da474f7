import { createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server between a client and the real one, which ends the client at a request. */
export interface KillingGateway {
  readonly url: string;
  /** Calls `kill` when the reply to the next request with this method has arrived, and never sends the reply. */
  killAt(method: string, kill: () => void): void;
  /** Sends all later requests to another server. */
  redirect(target: string): void;
  close(): Promise<void>;
}

export async function createKillingGateway(target: string): Promise<KillingGateway> {
  let { hostname, port } = new URL(target);
  let planned: { readonly method: string; readonly kill: () => void } | undefined;
  const server = createServer((request, reply) => {
    const { method, url = '', headers } = request;
    const forwarded = send({ hostname, port, method, path: url, headers }, (response) => {
      if (planned !== undefined && method === planned.method) {
        planned.kill();
        planned = undefined;
        response.resume();
        return;
      }
      reply.writeHead(response.statusCode ?? 500, response.headers);
      response.pipe(reply);
    });
    forwarded.on('error', () => reply.destroy());
    request.on('error', () => {});
    reply.on('error', () => {});
    request.pipe(forwarded);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    killAt(called, kill) {
      planned = { method: called, kill };
    },
    redirect(other) {
      ({ hostname, port } = new URL(other));
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
