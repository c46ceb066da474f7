import type { Logger } from 'pino';
import type { ServiceConfig } from '../config/service-config.ts';
import type { EngineFactory } from '../engines/engine-factory.ts';
import type { Clock } from '../host/clock.ts';

/** What `createService` needs; only `config` is required. */
export interface ServiceOptions {
  readonly config: ServiceConfig;
  /** Additional engines, by the name used in a cluster's `engine`. */
  readonly engines?: Readonly<Record<string, EngineFactory>>;
  /** Default: `systemClock`. */
  readonly clock?: Clock;
  /**
   * Called when the store has failed permanently, for example because its disk failed. From then on every change is
   * rejected. The process should end soon, since the store's native code may have damaged its memory.
   */
  readonly onFailure?: (error: unknown) => void;
  /** Default: silent. */
  readonly log?: Logger;
}
