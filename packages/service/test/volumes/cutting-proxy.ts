import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** A TCP proxy before a server on loopback that breaks connections in the middle. */
export interface CuttingProxy {
  readonly port: number;
  /** How many more connections are broken once so many bytes have passed, both ways together; the others are left alone. */
  cuts: { left: number; afterBytes: number };
}

/** Opens one; it is closed when the test has finished. */
export async function openCuttingProxy(target: number): Promise<CuttingProxy> {
  const cuts = { left: 0, afterBytes: 0 };
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(target, '127.0.0.1');
    let passed = 0;
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on('error', () => {});
      from.once('close', () => {
        sockets.delete(from);
        to.destroy();
      });
      from.on('data', (bytes) => {
        passed += bytes.length;
        if (cuts.left === 0 || passed < cuts.afterBytes) return;
        cuts.left--;
        near.resetAndDestroy();
        far.resetAndDestroy();
      });
      from.pipe(to);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, cuts };
}
