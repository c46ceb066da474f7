import { mkdirSync } from 'node:fs';
import type { ContainerService, Scope } from '@sluice/client';
import type { Principal } from '../accounts/principal.ts';
import type { HttpFront } from '../api/http-front.ts';
import type { Listener, ListenOptions } from '../api/listen-options.ts';
import { describeInodes } from '../calls/check-storage.ts';
import { createInProcessService } from '../calls/in-process-service.ts';
import type { ServiceConfig } from '../config/service-config.ts';
import type { ReloadReport } from '../containers/reload-config.ts';
import { lockStore } from '../store/store-lock.ts';
import { openServiceCore, type ServiceCore } from './service-core.ts';
import type { ServiceOptions } from './service-options.ts';

/** A v1rc1 service in this process. */
export interface Service {
  /** The service for callers in this process. Closing the result does not close the service. */
  inProcess(principal: Principal): ContainerService;
  /** The accounts of all clusters at present, also of a cluster that could not be removed. */
  accounts(): readonly Scope[];
  /** May be called several times, also while containers run. The first call loads the HTTP server. */
  listen(options: ListenOptions): Promise<Listener>;
  /**
   * Applies the changes of a configuration that are possible without a restart, and reads the certificates again. The report
   * lists the others.
   */
  reload(config: ServiceConfig): Promise<ReloadReport>;
  /** Limitations of the clusters' engines on this machine, for users. */
  warnings(): readonly string[];
  /**
   * The time that removals by age use, in milliseconds since the Unix epoch: that of the clock, but not while the clock is
   * far ahead and has not been steady for a day.
   */
  retentionTime(): number;
  /** Why nothing more may be created below the root: its disk has few free inodes. Undefined if there are enough. */
  findInodeShortage(): Promise<string | undefined>;
  /** Finishes requests in progress and releases the store. Containers continue; a later service adopts them. */
  close(): Promise<void>;
}

/**
 * Opens the store in `config.root` and recovers the containers of earlier processes. Throws `StoreInUseError` if another
 * process serves this root.
 */
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
  const listeners = new Set<Listener>();
  let front: Promise<HttpFront> | undefined;
  let closed: Promise<void> | undefined;
  return {
    inProcess: (principal) => createInProcessService(core.calls, principal),
    accounts: () =>
      [...core.clusters.values()].flatMap(({ id, config }) =>
        config.accounts.map((accountID) => ({ clusterID: id, accountID })),
      ),
    async listen(listenOptions) {
      // Loaded on demand: in-process callers need no HTTP server.
      front ??= import('../api/http-front.ts').then(({ createHttpFront }) => createHttpFront(core));
      const listener = await (await front).listen(listenOptions);
      listeners.add(listener);
      return {
        ...listener,
        async close() {
          listeners.delete(listener);
          await listener.close();
        },
      };
    },
    async reload(config) {
      await (await front)?.refreshCertificate();
      return core.reload(config);
    },
    warnings: () => [...new Set([...core.clusters.values()].flatMap((cluster) => cluster.driver.warnings))],
    retentionTime: () => core.retentionTime(),
    findInodeShortage: async () => describeInodes(await core.freeInodes()),
    close() {
      closed ??= (async () => {
        await Promise.allSettled([...listeners].map((listener) => listener.close()));
        (await front)?.close();
        await core.close();
        await unlock();
      })();
      return closed;
    },
  };
}
