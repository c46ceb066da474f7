import type { PortOwner } from './port-owner.ts';

/** The target of a host name's traffic: a port of a running container. */
export interface Upstream {
  readonly host: string;
  readonly port: number;
  /** Finds the program that listens on the port; absent if it is not to be checked. */
  readonly findListener?: PortOwner;
}

/** A request or connection on a route; aborted when the route is removed. */
export interface Exchange {
  abort(): void;
}

/** A host with its target and its requests in progress. */
export interface Route {
  readonly host: string;
  readonly upstream: Upstream;
  readonly exchanges: Set<Exchange>;
}

/** The hosts that are currently served; names are not case-sensitive. */
export interface RouteTable {
  /** Throws if the host has a route: two containers never share a name. */
  add(host: string, upstream: Upstream): void;
  /** After this returns, nothing reaches the upstream, including requests in progress. Idempotent. */
  remove(host: string): void;
  find(host: string): Route | undefined;
  hosts(): string[];
}

/** Starts without routes. */
export function createRouteTable(): RouteTable {
  const routes = new Map<string, Route>();
  return {
    add(host, upstream) {
      const name = host.toLowerCase();
      if (routes.has(name)) throw new Error(`could not add a route for '${name}': it already has one`);
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
