import type { StorageAccess } from '../storage/storage-access.ts';
import type { Engine } from './engine.ts';

/** What an engine knows of its cluster. */
export interface EngineSite {
  readonly clusterID: string;
  /** Absolute path of the directory with the cluster's containers and volumes. */
  readonly storage: string;
  /** How to make calls to `storage`, which may stop answering. */
  readonly storageAccess: StorageAccess;
  /** Absolute host paths that containers must not see, in particular the service's own data root. */
  readonly maskedPaths: readonly string[];
}

/** Creates the engine of one cluster without opening it; `options` come unchecked from the configuration. */
export type EngineFactory = (
  cluster: EngineSite & { readonly options: Readonly<Record<string, unknown>> },
) => Engine | Promise<Engine>;
