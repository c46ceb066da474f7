import type { ContainerService } from '@sluice/client';
import { createSimulatedService, type SimulatedService, type SimulationOptions } from './simulated-service.ts';

/** Several clusters behind one service: each a simulated service of its own, since they share nothing. */
export function createSimulatedClusters(
  clusterIDs: readonly string[],
  options: Omit<SimulationOptions, 'clusterID'>,
): SimulatedService {
  const { random } = options;
  const parts = new Map(
    clusterIDs.map((clusterID) => {
      const own = clusterIDs.length === 1 ? random : random.fork(clusterID);
      return [clusterID, createSimulatedService({ ...options, clusterID, random: own })] as const;
    }),
  );
  const all = [...parts.values()];
  if (all.length === 1) return all[0]!;
  const on = ({ clusterID }: { readonly clusterID: string }): ContainerService => {
    const part = parts.get(clusterID);
    if (!part) throw new Error(`there is no cluster ${clusterID}`);
    return part.service;
  };
  const gather = async <T>(clusterID: string, ask: (service: ContainerService) => Promise<T[]>): Promise<T[]> => {
    const asked = clusterID === '-' ? all.map(({ service }) => service) : [on({ clusterID })];
    return (await Promise.all(asked.map(ask))).flat();
  };
  const service: ContainerService = {
    discovery: {
      listAccounts: (clusterID = '-') => gather(clusterID, ({ discovery }) => discovery.listAccounts(clusterID)),
      listInstanceTypes: (clusterID = '-') =>
        gather(clusterID, ({ discovery }) => discovery.listInstanceTypes(clusterID)),
    },
    containers: {
      create: (scope, spec, more) => on(scope).containers.create(scope, spec, more),
      get: (ref) => on(ref).containers.get(ref),
      list: (scope, more) => on(scope).containers.list(scope, more),
      logs: (ref, more) => on(ref).containers.logs(ref, more),
      cancel: (ref) => on(ref).containers.cancel(ref),
      delete: (ref) => on(ref).containers.delete(ref),
    },
    volumes: {
      create: (scope, more) => on(scope).volumes.create(scope, more),
      list: (scope, more) => on(scope).volumes.list(scope, more),
      delete: (ref, more) => on(ref).volumes.delete(ref, more),
      undelete: (ref) => on(ref).volumes.undelete(ref),
      files: (ref, login) => on(ref).volumes.files(ref, login),
    },
    watch(listener) {
      const ends = all.map((part) => part.service.watch(listener));
      return ends.includes(undefined)
        ? undefined
        : () => {
            for (const end of ends) end?.();
          };
    },
    close: async () => {},
  };
  const merge = <K, V>(maps: readonly ReadonlyMap<K, V>[]): ReadonlyMap<K, V> =>
    new Map(maps.flatMap((map) => [...map]));
  return {
    service,
    get containers() {
      return merge(all.map(({ containers }) => containers));
    },
    get volumes() {
      return merge(all.map(({ volumes }) => volumes));
    },
    get inFlight() {
      return new Set(all.flatMap(({ inFlight }) => [...inFlight]));
    },
    get calls() {
      const sums = new Map<string, number>();
      for (const { calls } of all) for (const [name, count] of calls) sums.set(name, (sums.get(name) ?? 0) + count);
      return sums;
    },
  };
}
