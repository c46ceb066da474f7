import { join } from 'node:path';
import { own } from '@sluice/core';
import {
  type AccountLimits,
  addHostedApi,
  addHostedPages,
  createRestrictedNotifier,
  createWebhookRules,
  type HostMetrics,
  openHostedAccounts,
  openSecrets,
  sealSecrets,
} from '@sluice/host';
import type { createServiceLog, EnvSealer, Service, ServiceExtension } from '@sluice/service';
import type { ChosenTraces } from '../connect/choose-traces.ts';
import { readDashboard } from './read-dashboard.ts';
import type { ServedConfig } from './read-service-config.ts';
import { createRunKey, readRunKey } from './run-key.ts';
import { isBelow, runKeyPath } from './runs-config.ts';

/** Choosing old runs may read every journal. */
const REMOVAL_MS = 86_400_000;

/** The runs that a service executes for its accounts. */
export interface RunHosting {
  /** Encrypts the secret variables of the service's containers with the key of the runs. */
  readonly sealer: EnvSealer;
  /** Adds their API to the listeners of the service. */
  readonly extend: ServiceExtension;
  /** Resumes the runs that an earlier process has left, and removes old ones every day. The API answers from now on. */
  open(service: Service): void;
  /**
   * Uses other limits and rules from now on. Leaves the runs of accounts that the service no longer has, and resumes those
   * of accounts that it has again.
   */
  reload(config: ServedConfig): Promise<void>;
  /** Suspends all runs. */
  close(): Promise<void>;
}

/** What all runs of a server share. */
interface RunHostingParts extends ChosenTraces {
  readonly log: ReturnType<typeof createServiceLog>;
  readonly metrics: HostMetrics;
}

/** Opens nothing yet: the service is created with the extension. */
export function createRunHosting(config: ServedConfig, { log, metrics, traces }: RunHostingParts): RunHosting {
  let current = config;
  let service: Service | undefined;
  let removal: NodeJS.Timeout | undefined;
  const { root } = config.service;
  const readRules = rulesOf(() => current);
  const accounts = openHostedAccounts(join(root, 'hosted'), (scope) => {
    const account = `${scope.clusterID}/${scope.accountID}`;
    return {
      service: service!.inProcess({ userId: 'runs', accounts: [{ ...scope }] }),
      limits: () => limitsOf(current, account),
      retentionMs: () => own(current.runs.accounts, account)?.retention ?? current.runs.retention,
      retentionTime: () => service!.retentionTime(),
      findInodeShortage: () => service!.findInodeShortage(),
      notifier: createRestrictedNotifier(readRules),
      log: (line: string) => log.info({ account }, line),
      metrics,
      ...(traces && { traces }),
      readKey: () => readRunKey(keyPath(current)),
      createKey: async () => createRunKey(keyPath(current)),
    };
  });
  return {
    sealer: {
      async seal(envs, context) {
        return sealSecrets(envs, { key: await createRunKey(keyPath(current)), context }).toString('base64');
      },
      open(sealed, context) {
        const key = readRunKey(keyPath(current));
        if (key === undefined) throw new Error('the key file is missing');
        return openSecrets(Buffer.from(sealed, 'base64'), { key, context });
      },
    },
    async extend(server, { authorize, accountsOf, login, logout }) {
      await addHostedPages(server, { files: readDashboard(), accountsOf, login, logout });
      await addHostedApi(server, {
        ...{ authorize, accounts },
        urlOf: ({ protocol, host }) => (current.service.publicUrl ?? `${protocol}://${host}`).replace(/\/$/, ''),
      });
    },
    open(opened) {
      service = opened;
      const removeOldRuns = () =>
        accounts
          .removeOldRuns()
          .catch((err: unknown) => log.error({ err }, 'could not remove the old runs of an account'));
      void accounts.serve(opened.accounts()).then(removeOldRuns);
      removal = setInterval(removeOldRuns, REMOVAL_MS).unref();
    },
    async reload(next) {
      current = next;
      await accounts.serve(service!.accounts());
    },
    async close() {
      clearInterval(removal);
      await accounts.close();
    },
  };
}

function keyPath({ runs, directory, service: { root } }: ServedConfig): string {
  const path = runKeyPath(runs, directory);
  if (!isBelow(path, root)) return path;
  throw new Error(`the configuration is below ${root}: set runs.keyFile to a file elsewhere`);
}

function limitsOf(
  { runs: { accounts, keyFile: _, webhooks: __, ...general } }: ServedConfig,
  account: string,
): AccountLimits {
  return { ...general, ...own(accounts, account) } as AccountLimits;
}

/** The rules of the present configuration, built once for each. */
function rulesOf(read: () => ServedConfig) {
  let built: { readonly of: ServedConfig; readonly rules: ReturnType<typeof createWebhookRules> } | undefined;
  return () => {
    const config = read();
    if (built?.of !== config) built = { of: config, rules: createWebhookRules(config.runs.webhooks) };
    return built.rules;
  };
}
