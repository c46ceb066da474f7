import { join } from 'node:path';
import type { Account } from '@sluice/client';
import { waitForLock } from '@sluice/host-system';
import { type Clock, systemClock } from '../host/clock.ts';
import { randomID } from '../host/random-id.ts';
import { openLmdbStore } from '../store/lmdb-store.ts';
import { migrate } from '../store/migrations.ts';
import { put, remove, type Store } from '../store/store.ts';
import { TABLES } from '../store/tables.ts';
import type { UserRow } from '../store/user-row.ts';
import { hashPassword, wirePassword } from './password.ts';

/** What is shown of a user. */
export type User = Pick<UserRow, 'userID' | 'email' | 'name' | 'accounts'>;

/**
 * The users of a service, for its operator. It works on the store beside a service that runs, which sees each change
 * at its next request: LMDB lets several processes write.
 */
export interface UserDirectory {
  list(): User[];
  /** Throws where there is one of this e-mail address. `password` is the raw one. */
  add(user: { email: string; name?: string; password: string }): Promise<User>;
  /** Ends all tokens that were given out before. */
  setPassword(email: string, password: string): Promise<void>;
  grant(email: string, account: Account): Promise<void>;
  revoke(email: string, account: Account): Promise<void>;
  /** Containers and volumes of the accounts stay. */
  remove(email: string): Promise<void>;
  close(): Promise<void>;
}

/** Opens the users of the service whose configuration has this `root`. */
export async function openUserDirectory(root: string, clock: Clock = systemClock): Promise<UserDirectory> {
  const store = openLmdbStore(join(root, 'store'), Object.values(TABLES));
  await migrate(store);
  return createUserDirectory(store, { clock, lockPath: join(root, '.users.lock') });
}

/** The same over a store that is open already; `close` closes it. */
function createUserDirectory(
  store: Store,
  { clock, lockPath }: { readonly clock: Clock; readonly lockPath: string },
): UserDirectory {
  /** One after the other, whatever the process: each change is made from what it has read. */
  const inTurn = async <T>(change: () => Promise<T>): Promise<T> => {
    const lock = await waitForLock(lockPath, 'change the users');
    try {
      return await change();
    } finally {
      lock.release();
    }
  };
  const find = (email: string): UserRow => {
    const user = store.get(TABLES.users, keyOf(email));
    if (user === undefined) throw new Error(`could not find the user ${email}`);
    return user;
  };
  const save = async (user: UserRow) => {
    await store.commit([put(TABLES.users, user.email, { ...user, updateTime: clock.now() })]);
  };
  return {
    list: () => [...store.range(TABLES.users, { from: '', to: '~' })].map(([, user]) => shown(user)),
    async add({ email, name = '', password }) {
      const key = keyOf(email);
      if (!/^[^\s@/]+@[^\s@/]+$/.test(key)) throw new Error(`could not add the user '${email}': not an e-mail address`);
      const hash = await hashPassword(wirePassword(password));
      return inTurn(async () => {
        if (store.get(TABLES.users, key) !== undefined)
          throw new Error(`could not add the user ${key} because it exists`);
        const now = clock.now();
        const times = { createTime: now, updateTime: now, passwordTime: now };
        const user: UserRow = { userID: `u-${randomID(16)}`, email: key, name, password: hash, accounts: [], ...times };
        await save(user);
        return shown(user);
      });
    },
    async setPassword(email, password) {
      const hash = await hashPassword(wirePassword(password));
      await inTurn(() => save({ ...find(email), password: hash, passwordTime: clock.now() }));
    },
    grant: (email, account) =>
      inTurn(async () => {
        const user = find(email);
        await save({ ...user, accounts: [...user.accounts.filter((own) => !isSame(own, account)), account] });
      }),
    revoke: (email, account) =>
      inTurn(async () => {
        const user = find(email);
        await save({ ...user, accounts: user.accounts.filter((own) => !isSame(own, account)) });
      }),
    remove: (email) => inTurn(() => store.commit([remove(TABLES.users, find(email).email)])),
    close: () => store.close(),
  };
}

function keyOf(email: string): string {
  return email.trim().toLowerCase();
}

function isSame(a: Account, b: Account): boolean {
  return a.clusterID === b.clusterID && a.accountID === b.accountID;
}

function shown({ userID, email, name, accounts }: UserRow): User {
  return { userID, email, name, accounts };
}
