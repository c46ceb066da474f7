import { isIPv6 } from 'node:net';

/** Per address, which may be shared by many users. */
const PER_ADDRESS = 100;
/** For all addresses together: each connection uses a descriptor and some kilobytes. */
const IN_ALL = 1000;

interface Connection {
  readonly address: string;
  readonly cut: () => void;
}

/**
 * The connections that have not logged in yet. The limit per address keeps one client from excluding others. At the total
 * limit, the oldest connection of the address with the most is closed for each new one.
 */
export class UnauthenticatedConnections {
  readonly #byNetwork = new Map<string, Set<Connection>>();
  #count = 0;

  /** Adds a connection; undefined if its address has too many. The returned function removes it, and is idempotent. */
  add(connection: Connection): (() => void) | undefined {
    const network = networkOf(connection.address);
    if ((this.#byNetwork.get(network)?.size ?? 0) >= PER_ADDRESS) return undefined;
    if (this.#count >= IN_ALL) this.#cutOne();
    const those = this.#byNetwork.get(network) ?? new Set();
    this.#byNetwork.set(network, those.add(connection));
    this.#count += 1;
    return () => this.#remove(network, connection);
  }

  #cutOne(): void {
    const [network, most] = [...this.#byNetwork].reduce((a, b) => (b[1].size > a[1].size ? b : a));
    const [oldest] = most;
    if (oldest === undefined) return;
    this.#remove(network, oldest);
    oldest.cut();
  }

  #remove(network: string, connection: Connection): void {
    const those = this.#byNetwork.get(network);
    if (those?.delete(connection) !== true) return;
    this.#count -= 1;
    if (those.size === 0) this.#byNetwork.delete(network);
  }
}

/** IPv6 addresses are counted by /64, because a single host can use all of them. */
function networkOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/, '');
  if (!isIPv6(plain)) return plain;
  const [head = '', tail] = plain.split('%')[0]!.split('::');
  const groups = head === '' ? [] : head.split(':');
  const rest = tail === undefined || tail === '' ? [] : tail.split(':');
  const missing = tail === undefined ? 0 : Math.max(0, 8 - groups.length - rest.length);
  const all = [...groups, ...Array.from({ length: missing }, () => '0'), ...rest];
  return all
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':');
}
