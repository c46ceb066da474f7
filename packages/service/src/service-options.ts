import type { Logger } from 'pino';
import type { Clock } from './clock.ts';
import type { ServiceConfig } from './config/service-config.ts';
import type { EngineFactory } from './engines/engine-factory.ts';

export interface ServiceOptions {
  readonly config: ServiceConfig;
  /** Engines by the name that clusters call them; by default those of this package. */
  readonly engines?: Readonly<Record<string, EngineFactory>>;
  readonly clock?: Clock;
  /** Default: silent. */
  readonly log?: Logger;
}
