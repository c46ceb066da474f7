import type { Engine } from './engine.ts';

/** The cluster that an engine works for. */
export interface EngineSite {
  readonly clusterID: string;
  /** Where the cluster keeps its containers and volumes. */
  readonly storage: string;
  /** Absolute host paths that containers must not see, above all the service's own data root. */
  readonly maskedPaths: readonly string[];
}

/** Makes the engine of one cluster; `options` are unchecked, as configured. */
export type EngineFactory = (
  cluster: EngineSite & { readonly options: Readonly<Record<string, unknown>> },
) => Engine | Promise<Engine>;
