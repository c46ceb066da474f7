import type { Engine } from './engine.ts';

/** Makes the engine of one cluster; `options` are unchecked, as configured. */
export type EngineFactory = (cluster: {
  readonly clusterID: string;
  readonly storage: string;
  /** Host paths that containers must not see. */
  readonly maskedPaths: readonly string[];
  readonly options: Readonly<Record<string, unknown>>;
}) => Engine | Promise<Engine>;
