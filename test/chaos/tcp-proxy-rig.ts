import { connect, createServer, type Socket } from 'node:net';
import type { Random } from '../../packages/run/test/random.ts';

/** What is done to one request and its reply on their way. */
export type Fate =
  | 'calm'
  /** The request comes later. */
  | 'delayed'
  /** The reply comes in small pieces. */
  | 'slow'
  /** The connection breaks before anything arrives. */
  | 'cutBefore'
  /** Half of the request arrives. */
  | 'cutRequest'
  /** The request arrives, and no byte of its reply comes back. */
  | 'cutReply'
  /** Half of the first piece of the reply comes back. */
  | 'halfReply'
  /** The request arrives; the way back is closed in good order. */
  | 'halfClosed'
  /** The request arrives a second time, later and over another connection. */
  | 'duplicated';

const FAULTS: readonly Fate[] = [
  'delayed',
  'slow',
  'cutBefore',
  'cutRequest',
  'cutReply',
  'halfReply',
  'halfClosed',
  'duplicated',
];

const LONGEST_DELAY_MS = 200;
const LONGEST_DUPLICATE_DELAY_MS = 2_000;
const PIECE_BYTES = 64;
/** Between half of something and the break, so that the half arrives. */
const HALF_MS = 5;
/** Longer requests are not sent twice: nothing that matters is so long. */
const LONGEST_DUPLICATE_BYTES = 65_536;

/** A proxy on a port of its own, before a service that may come and go on other ports. */
export interface TcpProxy {
  readonly port: number;
  /** Where connections lead from now on. */
  target: number;
  /** Probability that something is done to a request. */
  faultRate: number;
  /** How often each fate was met. */
  readonly fates: ReadonlyMap<Fate, number>;
  close(): Promise<void>;
}

/**
 * Knows nothing of HTTP but that a client which speaks after the service has spoken begins a new request: that is all
 * it takes to lose a reply whose request has arrived.
 */
export async function createTcpProxy(random: Random): Promise<TcpProxy> {
  const fates = new Map<Fate, number>();
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    const service = connect({ host: '127.0.0.1', port: proxy.target, allowHalfOpen: true, noDelay: true });
    for (const socket of [client, service]) {
      sockets.add(socket);
      socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    }
    join(client, service);
  });

  function join(client: Socket, service: Socket): void {
    let fate: Fate | undefined;
    let request: Buffer[] = [];
    const toService = createLane();
    const toClient = createLane();
    const cut = () => {
      client.destroy();
      service.destroy();
    };
    client.on('data', (bytes) => {
      if (fate === undefined) {
        fate = random.chance(proxy.faultRate) ? random.pick(FAULTS) : 'calm';
        fates.set(fate, (fates.get(fate) ?? 0) + 1);
        request = [];
      }
      request.push(bytes);
      if (fate === 'cutBefore') return cut();
      const isHalf = fate === 'cutRequest';
      const part = isHalf ? bytes.subarray(0, bytes.length >> 1) : bytes;
      toService(fate === 'delayed' ? random.below(LONGEST_DELAY_MS) : 0, () => service.write(part));
      if (isHalf) toService(HALF_MS, cut);
    });
    service.on('data', (bytes) => {
      const met = fate;
      fate = undefined;
      if (met === 'cutReply') return cut();
      if (met === 'halfClosed') return void client.end();
      if (met === 'duplicated') sendAgain(Buffer.concat(request));
      if (met === 'halfReply') {
        client.write(bytes.subarray(0, bytes.length >> 1));
        toClient(HALF_MS, cut);
        return;
      }
      const size = met === 'slow' ? PIECE_BYTES : bytes.length;
      for (let at = 0; at < bytes.length; at += size) {
        const piece = bytes.subarray(at, at + size);
        toClient(met === 'slow' ? 1 : 0, () => client.write(piece));
      }
    });
    client.on('end', () => toService(0, () => service.end())).on('close', () => service.destroy());
    service.on('end', () => toClient(0, () => client.end()));
    service.on('close', () => toClient(0, () => client.destroySoon()));
  }

  /** The same bytes once more, over another connection whose reply nobody reads. */
  function sendAgain(bytes: Buffer): void {
    if (bytes.length > LONGEST_DUPLICATE_BYTES) return;
    const { target } = proxy;
    setTimeout(() => {
      const again = connect({ host: '127.0.0.1', port: target });
      sockets.add(again);
      again.on('error', () => {}).on('close', () => sockets.delete(again));
      again.on('data', () => again.destroy());
      again.write(bytes);
    }, random.below(LONGEST_DUPLICATE_DELAY_MS));
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const proxy: TcpProxy = {
    port,
    target: 0,
    faultRate: 0,
    fates,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return proxy;
}

/** One direction of a connection: what is put on it happens in order, each after its own delay. */
function createLane(): (ms: number, action: () => void) => void {
  let last = Promise.resolve();
  return (ms, action) => {
    last = last.then(() => (ms > 0 ? new Promise((resolve) => setTimeout(resolve, ms)) : undefined)).then(action);
  };
}
