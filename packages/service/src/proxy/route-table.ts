import type { PortOwner } from './port-owner.ts';

/** Where the traffic of a host name goes: a port of a running container. */
export interface Upstream {
  readonly host: string;
  readonly port: number;
  /** Who listens on the port; absent where that is not to be asked. */
  readonly whoListens?: PortOwner;
}

/** A request or connection on a route, which ends when the route does. */
export interface Exchange {
  abort(): void;
}

export interface Route {
  readonly host: string;
  readonly upstream: Upstream;
  readonly exchanges: Set<Exchange>;
}

/** The hosts that are served right now. */
export interface RouteTable {
  /** Throws where the host has a route: two containers never share a name. */
  add(host: string, upstream: Upstream): void;
  /** From the moment this returns nothing reaches the upstream any more, not even requests in progress. Idempotent. */
  remove(host: string): void;
  find(host: string): Route | undefined;
  hosts(): string[];
}

export function createRouteTable(): RouteTable {
  const routes = new Map<string, Route>();
  return {
    add(host, upstream) {
      const name = host.toLowerCase();
      if (routes.has(name)) throw new Error(`cannot add a route for '${name}': it has one`);
      routes.set(name, { host: name, upstream, exchanges: new Set() });
    },
    remove(host) {
      const name = host.toLowerCase();
      const route = routes.get(name);
      routes.delete(name);
      for (const exchange of route?.exchanges ?? []) exchange.abort();
    },
    find: (host) => routes.get(host),
    hosts: () => [...routes.keys()].sort(),
  };
}
