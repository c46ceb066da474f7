import type { Scope } from '@sluice/client';
import type { EngineName } from '@sluice/run';

/** The engine of an embedded service. */
export interface EmbeddedEngine {
  readonly name: EngineName;
  /** From the profile, unchecked. */
  readonly options: Readonly<Record<string, unknown>>;
}

/** Runs containers on this machine. */
export const LOCAL_ENGINE: EmbeddedEngine = { name: 'local', options: {} };

/** Where an embedded service is in its home. */
export interface EmbeddedPlace {
  /** Its directory, and its two sockets, by their names in the home. */
  readonly root: string;
  readonly socket: string;
  readonly ownerSocket: string;
  /** Its only cluster and account. Repeated here so that other processes need not load the service. */
  readonly scope: Scope;
}

/**
 * Each engine has a service of its own: a container must never be looked for in another engine, which would report that it
 * does not exist.
 */
export function placeOfEngine({ name }: EmbeddedEngine): EmbeddedPlace {
  const scope = { clusterID: name, accountID: 'local' };
  if (name === 'local') return { root: 'service', socket: 'service.sock', ownerSocket: 'owner.sock', scope };
  return { root: name, socket: `${name}.sock`, ownerSocket: `${name}-owner.sock`, scope };
}
