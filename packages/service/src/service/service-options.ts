import type { Logger } from 'pino';
import type { ServiceConfig } from '../config/service-config.ts';
import type { EngineFactory } from '../engines/engine-factory.ts';
import type { Clock } from '../host/clock.ts';

export interface ServiceOptions {
  readonly config: ServiceConfig;
  /** Engines by the name that clusters call them; by default those of this package. */
  readonly engines?: Readonly<Record<string, EngineFactory>>;
  readonly clock?: Clock;
  /**
   * Called when the store has failed for good, as when its disk fails. Every change is rejected from then on, and the
   * native part of the store may have damaged the memory of the process: it should end soon.
   */
  readonly onFailure?: (error: unknown) => void;
  /** Default: silent. */
  readonly log?: Logger;
}
