import { mkdirSync } from 'node:fs';
import type { Account, ContainerService } from '@sluice/client';
import type { Logger } from 'pino';
import type { HttpFront, HttpListener } from './api/http-front.ts';
import type { Clock } from './clock.ts';
import type { ReloadReport } from './config/reload-config.ts';
import type { ServiceConfig } from './config/service-config.ts';
import type { Engine } from './engines/engine.ts';
import { createInProcessService } from './in-process-service.ts';
import { openServiceCore, type ServiceCore } from './service-core.ts';
import { lockStore } from './store/store-lock.ts';

/** On whose behalf calls are made: a name for logs, and the accounts that may be acted on. */
export interface Principal {
  readonly userID: string;
  readonly accounts: readonly Account[];
}

/** Where to listen. On a socket with `principal`, whoever can open the file acts as that principal and needs no token. */
export type ListenOptions =
  | { readonly host: string; readonly port: number }
  | { readonly socketPath: string; readonly principal?: Principal };

/** Where a listener is reached: for a TCP listener with the port that was really taken. */
export interface ListenAddress {
  /** The API's base URL, `http://localhost` for a socket. */
  readonly url: string;
  readonly socketPath?: string;
  readonly port?: number;
}

/** A v1rc1 service in this process. */
export interface Service {
  /** The service without a socket between; `close` of the result closes nothing but itself. */
  inProcess(principal: Principal): ContainerService;
  /** May be called several times, also while containers run. The HTTP server is loaded at the first call. */
  listen(options: ListenOptions): Promise<ListenAddress>;
  /**
   * Takes up a changed configuration as far as that is possible while it serves, and reads certificates again; says
   * what takes a restart.
   */
  reload(config: ServiceConfig): Promise<ReloadReport>;
  /** Finishes requests under way and lets go of the store. Containers run on; a later service adopts them. */
  close(): Promise<void>;
}

export interface ServiceOptions {
  readonly config: ServiceConfig;
  /** Engines by the name that clusters call them; by default those of this package. */
  readonly engines?: Readonly<Record<string, EngineFactory>>;
  readonly clock?: Clock;
  /** Default: silent. */
  readonly log?: Logger;
}

/** Makes the engine of one cluster; `options` are unchecked, as configured. */
export type EngineFactory = (cluster: {
  readonly clusterID: string;
  readonly storage: string;
  /** Host paths that containers must not see. */
  readonly maskedPaths: readonly string[];
  readonly options: Readonly<Record<string, unknown>>;
}) => Engine | Promise<Engine>;

/** Opens the store below `config.root`, takes up what earlier runs of the service left, and serves. */
export async function createService(options: ServiceOptions): Promise<Service> {
  const { config } = options;
  mkdirSync(config.root, { recursive: true, mode: 0o700 });
  const unlock = await lockStore(config.root);
  try {
    const core = await openServiceCore(options);
    return serve(core, unlock);
  } catch (error) {
    await unlock();
    throw error;
  }
}

function serve(core: ServiceCore, unlock: () => Promise<void>): Service {
  const listeners: HttpListener[] = [];
  let front: Promise<HttpFront> | undefined;
  let closed: Promise<void> | undefined;
  return {
    inProcess: (principal) => createInProcessService(core.calls, principal),
    async listen(listenOptions) {
      // Loaded late: who stays in process needs no HTTP server.
      front ??= import('./api/http-front.ts').then(({ createHttpFront }) => createHttpFront(core));
      const listener = await (await front).listen(listenOptions);
      listeners.push(listener);
      return listener.address;
    },
    async reload(config) {
      await (await front)?.refreshCertificate();
      return core.reload(config);
    },
    close() {
      closed ??= (async () => {
        await Promise.allSettled(listeners.map((listener) => listener.close()));
        (await front)?.close();
        await core.close();
        await unlock();
      })();
      return closed;
    },
  };
}
