import type { MetricFamily } from '@sluice/host-system';
import type { Logger } from 'pino';
import type { ServiceExtension } from '../api/service-extension.ts';
import type { ServiceConfig } from '../config/service-config.ts';
import type { EnvSealer } from '../containers/secret-envs.ts';
import type { EngineFactory } from '../engines/engine-factory.ts';
import type { Clock } from '../protocol/clock.ts';

/** What `createService` needs; only `config` is required. */
export interface ServiceOptions {
  readonly config: ServiceConfig;
  /** Additional engines, by the name used in a cluster's `engine`. */
  readonly engines?: Readonly<Record<string, EngineFactory>>;
  /**
   * Further directories of this machine that containers must not see, if their engine shows them its files: those of the
   * programs that use this service. `config.root` and the storages are always hidden.
   */
  readonly hiddenPaths?: readonly string[];
  /** Default: `systemClock`. */
  readonly clock?: Clock;
  /**
   * Called when the store has failed permanently, for example because its disk failed. From then on every change is
   * rejected. The process should end soon, since the store's native code may have damaged its memory.
   */
  readonly onFailure?: (error: unknown) => void;
  /** Encrypts the secret variables of containers. Default: `secret-envs` is not offered. */
  readonly sealer?: EnvSealer;
  /** Further metrics of this process, which `/metrics` also shows. Default: none. */
  readonly metrics?: () => Promise<readonly MetricFamily[]>;
  /** Adds routes of other programs to each listener, with the service's authentication. */
  readonly extend?: ServiceExtension;
  /** Default: silent. */
  readonly log?: Logger;
}
