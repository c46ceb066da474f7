import type { Logger } from 'pino';
import type { ServiceConfig } from '../config/service-config.ts';
import type { EngineFactory } from '../engines/engine-factory.ts';
import type { Clock } from '../host/clock.ts';

export interface ServiceOptions {
  readonly config: ServiceConfig;
  /** Engines by the name that clusters call them; by default those of this package. */
  readonly engines?: Readonly<Record<string, EngineFactory>>;
  readonly clock?: Clock;
  /** Default: silent. */
  readonly log?: Logger;
}
