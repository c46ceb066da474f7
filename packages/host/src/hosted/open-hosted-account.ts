import { join } from 'node:path';
import type { ContainerService, Scope } from '@sluice/client';
import { ok } from '@sluice/core';
import { makeDurableDirectory } from '@sluice/host-system';
import type { Notifier, RunAllowance, TraceSink } from '@sluice/runner';
import { openRunApi, type RunApi } from '../api/run-api.ts';
import { openRunHost } from '../execute/open-run-host.ts';
import { createRunSlots } from '../execute/run-slots.ts';
import type { HostMetrics } from '../metrics/host-metrics.ts';
import { type AccountLimits, createLimitCheck, type LimitCheck } from './account-limits.ts';
import { removeStaged } from './add-run.ts';
import { createHostedExecutor, type HostedExecutor } from './create-hosted-executor.ts';
import { createOrders } from './create-orders.ts';
import { openOrderPlanner } from './open-order-planner.ts';
import { deleteEndedRun, removeOldRuns } from './remove-old-runs.ts';
import { createSecretStore, type SecretStoreOptions } from './secret-store.ts';

/** What a server needs to execute the runs of one account. */
export interface HostedAccountOptions extends Pick<SecretStoreOptions, 'createKey' | 'readKey' | 'log'> {
  /** The directory of all accounts. */
  readonly root: string;
  readonly scope: Scope;
  /** Acts as the account. */
  readonly service: ContainerService;
  /** Called for each decision, since a configuration may change. */
  readonly limits: () => AccountLimits;
  /** Ended runs are removed after this time; called for each removal. */
  readonly retentionMs: () => number;
  /** The time that removals use, which a wrong clock does not change at once; milliseconds since the Unix epoch. */
  readonly retentionTime: () => number;
  /** Why no file of a run may be created on the disk of the server; undefined if one may. */
  readonly findInodeShortage: () => Promise<string | undefined>;
  /** Sends notifications only where the operator allows it. */
  readonly notifier: Notifier;
  readonly metrics: HostMetrics;
  /** Receives the runs as traces. */
  readonly traces?: TraceSink;
}

/** The runs of an account that this process executes. */
export interface HostedAccount {
  readonly api: RunApi;
  /** Removes the runs that ended long ago. Never rejects. */
  removeOldRuns(): Promise<void>;
  /** Applies changed limits and keys to the runs that wait for them. */
  update(): Promise<void>;
  /** Suspends all runs; the next process resumes them. */
  close(): Promise<void>;
}

/** Of all results of a run, which are in memory and in its journal: twice what one attempt may have. */
const MAX_RESULT_BYTES = 64 * 1024 * 1024;

function createAllowance({ maxSteps }: LimitCheck): RunAllowance {
  return { maxCells: maxSteps, maxResultBytes: MAX_RESULT_BYTES };
}

/** The home of an account's runs, which no user of this machine has. */
export function hostedHome(root: string, { clusterID, accountID }: Scope): string {
  return join(root, clusterID, accountID);
}

/** Resumes the runs of the account, and opens its API. Throws if another process executes them. */
export async function openHostedAccount(options: HostedAccountOptions): Promise<HostedAccount> {
  const { root, scope, service, limits, retentionMs, retentionTime, log, notifier, metrics, traces } = options;
  const { findInodeShortage } = options;
  const account = `${scope.clusterID}/${scope.accountID}`;
  const home = hostedHome(root, scope);
  await makeDurableDirectory(home);
  const secrets = createSecretStore({ ...options, home, account });
  metrics.addHome(home);
  const limitCheck = createLimitCheck(home, { limits });
  const restrictions = { notifier, delivers: false, allowance: createAllowance(limitCheck) };
  const slots = createRunSlots(() => limits().concurrent);
  let executor: HostedExecutor | undefined;
  const host = await openRunHost({
    ...{ home, log, restrictions, metrics, env: {}, isBackground: false },
    openService: async () => ok({ service, close: async () => {}, ...(traces && { traces }) }),
    readSecret: (name, _, runId) => secrets.read(runId, name),
    onEnded: (runId) => secrets.remove(runId),
    slots,
    // Without an executor, the run asks again.
    cancelLeft: async (runId, by) => executor?.cancelLeft(runId, by) ?? false,
    findHold: limitCheck.findExcess,
  });
  if (host === undefined) throw new Error(`another process executes the runs of ${account}`);
  await removeStaged(home);
  const planner = openOrderPlanner();
  const orders = createOrders({
    ...{ home, scope, service, host, secrets, limits: limitCheck },
    ...{ findInodeShortage, planOrder: planner.planOrder },
  });
  const leaving = new AbortController();
  const opened = createHostedExecutor({
    ...{ home, service, host, orders, secrets, restrictions, log, leaving: leaving.signal },
    deleteRun: (runId) => deleteEndedRun(home, runId),
    ...(traces && { traces }),
  });
  executor = opened;
  const api = openRunApi({
    ...{ home, userName: 'server', executorKind: 'server', executor: opened, orders, now: retentionTime },
    openService: async () => ok(service),
  });
  const removal = { home, orders, followers: api.followers, log, now: retentionTime, closing: api.closing };
  const removals = removeInTurn(() => removeOldRuns(retentionMs(), removal), log);
  return {
    api,
    removeOldRuns: removals.next,
    async update() {
      slots.update();
      await host.takeMarked();
    },
    async close() {
      leaving.abort();
      await api.close();
      await planner.close();
      await opened.close();
      await removals.ended();
      await host.close();
    },
  };
}

/** Calls of `remove`, one after the other. Both promises never reject. */
function removeInTurn(remove: () => Promise<void>, log: (line: string) => void) {
  let removing = Promise.resolve();
  const next = () => {
    removing = removing.then(remove).catch((error: Error) => log(`could not remove old runs: ${error.message}`));
    return removing;
  };
  return { next, ended: () => removing };
}
