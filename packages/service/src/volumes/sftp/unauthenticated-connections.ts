import { isIPv6 } from 'node:net';

/** Of one address, behind which there may be many people. */
const PER_ADDRESS = 100;
/** Of all addresses: what each costs is a descriptor and some kilobytes. */
const IN_ALL = 1000;

interface Connection {
  readonly address: string;
  readonly cut: () => void;
}

/**
 * The connections that have not logged in yet. Each address has its own bound, so that nobody shuts out others; where
 * many addresses together have too many, the oldest of the address with the most is cut for the new one.
 */
export class UnauthenticatedConnections {
  readonly #byNetwork = new Map<string, Set<Connection>>();
  #count = 0;

  /** Takes one more, or says that its address has too many. The returned function ends its stay; twice does no harm. */
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

/** A host has a whole /64 of IPv6: one address of it says nothing. */
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
