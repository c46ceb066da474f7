import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Scope } from '@sluice/client';
import { listHosted } from '@sluice/home';
import { describeClosing } from '../api/run-api.ts';
import { type HostedAccount, type HostedAccountOptions, hostedHome, openHostedAccount } from './open-hosted-account.ts';

/** The accounts whose runs a server executes. */
export interface HostedAccounts {
  /** Opens the account at the first call. Throws `ApiError` for an account that is not served. */
  find(scope: Scope): Promise<HostedAccount>;
  /**
   * Executes the runs of these accounts, applies changed limits to them, and suspends the runs of all others: what a
   * restart would do. May be called again at any time.
   */
  serve(scopes: readonly Scope[]): Promise<void>;
  /** Removes the old runs of all these accounts. Rejects if another process executes the runs of one. */
  removeOldRuns(): Promise<void>;
  /** Suspends all runs. */
  close(): Promise<void>;
}

/** An account that could not be opened, for example because the disk is full, is opened again after this time. */
const RETRY_MS = 30_000;

type Describe = (scope: Scope) => Omit<HostedAccountOptions, 'root' | 'scope'>;

interface State {
  readonly root: string;
  readonly describe: Describe;
  readonly opened: Map<string, Promise<HostedAccount>>;
  served: ReadonlyMap<string, Scope>;
  retry: NodeJS.Timeout | undefined;
  isClosed: boolean;
  /** The last change of the served accounts; one is made after the other. */
  last: Promise<void>;
}

/** `describe` returns what differs between accounts. */
export function openHostedAccounts(root: string, describe: Describe): HostedAccounts {
  const state: State = {
    ...{ root, describe, opened: new Map(), served: new Map() },
    ...{ retry: undefined, isClosed: false, last: Promise.resolve() },
  };
  return {
    find: (scope) => find(state, scope),
    serve(scopes) {
      // A reload may still be in progress when the server ends.
      if (state.isClosed) return state.last;
      state.served = new Map(scopes.map((scope) => [keyOf(scope), scope]));
      return enqueue(state);
    },
    async removeOldRuns() {
      const used = [...state.served].filter(([, scope]) => existsSync(join(hostedHome(root, scope), 'runs')));
      for (const [key, scope] of used) if (state.served.has(key)) await (await find(state, scope)).removeOldRuns();
    },
    close() {
      state.isClosed = true;
      state.served = new Map();
      return enqueue(state);
    },
  };
}

function find({ root, describe, opened, served }: State, scope: Scope): Promise<HostedAccount> {
  const key = keyOf(scope);
  if (!served.has(key)) return Promise.reject(describeClosing());
  const known = opened.get(key);
  if (known !== undefined) return known;
  const account = openHostedAccount({ root, scope, ...describe(scope) });
  opened.set(key, account);
  // The next request tries again.
  account.catch(() => opened.delete(key));
  return account;
}

function enqueue(state: State): Promise<void> {
  state.last = state.last.then(() => update(state));
  return state.last;
}

async function update(state: State): Promise<void> {
  const { opened, served } = state;
  clearTimeout(state.retry);
  const removed = [...opened].filter(([key]) => !served.has(key));
  await Promise.all(removed.map(([key, account]) => leave(state, { key, account })));
  let isComplete = true;
  for (const scope of served.values()) isComplete = (await resume(state, scope)) && isComplete;
  if (!isComplete) state.retry = setTimeout(() => void enqueue(state), RETRY_MS).unref();
}

/** Returns false if that failed: one account does not keep the others from being resumed. */
async function resume(state: State, scope: Scope): Promise<boolean> {
  const key = keyOf(scope);
  // Changed again meanwhile: another update follows.
  if (!state.served.has(key)) return true;
  try {
    const known = state.opened.get(key);
    if (known !== undefined) await (await known).update();
    else if ((await listHosted(hostedHome(state.root, scope))).length > 0) await find(state, scope);
    return true;
  } catch (error) {
    if (!state.served.has(key)) return true;
    state.describe(scope).log(`could not resume the runs: ${(error as Error).message}`);
    return false;
  }
}

/** The account can be opened again as soon as this process does nothing with its runs. */
async function leave(
  { opened }: State,
  { key, account }: { readonly key: string; readonly account: Promise<HostedAccount> },
): Promise<void> {
  await account.then((one) => one.close()).catch(() => {});
  if (opened.get(key) === account) opened.delete(key);
}

function keyOf({ clusterID, accountID }: Scope): string {
  return `${clusterID}/${accountID}`;
}
