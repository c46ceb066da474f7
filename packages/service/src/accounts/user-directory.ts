import { join } from 'node:path';
import type { Account } from '@sluice/client';
import { waitForLock } from '@sluice/host-system';
import { type Clock, systemClock } from '../protocol/clock.ts';
import { randomId } from '../protocol/random-id.ts';
import { openLmdbStore } from '../store/lmdb-store.ts';
import { requireVersion } from '../store/require-version.ts';
import { put, remove, type Store } from '../store/store.ts';
import { TABLES } from '../store/tables.ts';
import type { UserRow } from '../store/user-row.ts';
import { hashPassword, wirePassword } from './password.ts';

/** A user without the password. */
export type User = Pick<UserRow, 'userId' | 'email' | 'name' | 'accounts'>;

/**
 * Manages the users of a service, for its operator. It may be open while the service runs, because LMDB allows several
 * writing processes; the service sees each change at its next request.
 */
export interface UserDirectory {
  /** All users, without their passwords. */
  list(): User[];
  /** Throws if a user has this e-mail address. `password` is the raw password. */
  add(user: { email: string; name?: string; password: string }): Promise<User>;
  /** Invalidates the user's earlier tokens. `password` is the raw password. */
  setPassword(email: string, password: string): Promise<void>;
  /** Throws if there is no such user; does nothing if the user has the account already. */
  grant(email: string, account: Account): Promise<void>;
  /** Throws if there is no such user; does nothing if the user does not have the account. */
  revoke(email: string, account: Account): Promise<void>;
  /** Keeps the containers and volumes of the user's accounts. */
  remove(email: string): Promise<void>;
  /** Releases the store; the service is not affected. */
  close(): Promise<void>;
}

/** Opens the users of the service whose configuration has this `root`. The caller closes the directory. */
export async function openUserDirectory(root: string, clock: Clock = systemClock): Promise<UserDirectory> {
  const store = openLmdbStore(join(root, 'store'), Object.values(TABLES));
  try {
    await requireVersion(store, root);
  } catch (error) {
    await store.close();
    throw error;
  }
  return createUserDirectory(store, { clock, lockPath: join(root, '.users.lock') });
}

/** As `openUserDirectory`, on an open store, which `close` closes. */
function createUserDirectory(
  store: Store,
  { clock, lockPath }: { readonly clock: Clock; readonly lockPath: string },
): UserDirectory {
  /** Serializes changes across processes, because each change depends on the row that it has read. */
  const withLock = async <T>(change: () => Promise<T>): Promise<T> => {
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
    list: () => [...store.range(TABLES.users, { from: '', to: '~' })].map(([, user]) => renderUser(user)),
    async add({ email, name = '', password }) {
      const key = keyOf(email);
      if (!/^[^\s@/]+@[^\s@/]+$/.test(key)) throw new Error(`could not add the user '${email}': not an e-mail address`);
      const hash = await hashPassword(wirePassword(password));
      return withLock(async () => {
        if (store.get(TABLES.users, key) !== undefined)
          throw new Error(`could not add the user ${key} because it exists`);
        const now = clock.now();
        const times = { createTime: now, updateTime: now, passwordTime: now };
        const user: UserRow = { userId: `u-${randomId(16)}`, email: key, name, password: hash, accounts: [], ...times };
        await save(user);
        return renderUser(user);
      });
    },
    async setPassword(email, password) {
      const hash = await hashPassword(wirePassword(password));
      await withLock(() => save({ ...find(email), password: hash, passwordTime: clock.now() }));
    },
    grant: (email, account) =>
      withLock(async () => {
        const user = find(email);
        await save({ ...user, accounts: [...user.accounts.filter((own) => !isSame(own, account)), account] });
      }),
    revoke: (email, account) =>
      withLock(async () => {
        const user = find(email);
        await save({ ...user, accounts: user.accounts.filter((own) => !isSame(own, account)) });
      }),
    remove: (email) => withLock(() => store.commit([remove(TABLES.users, find(email).email)])),
    close: () => store.close(),
  };
}

function keyOf(email: string): string {
  return email.trim().toLowerCase();
}

function isSame(a: Account, b: Account): boolean {
  return a.clusterID === b.clusterID && a.accountID === b.accountID;
}

function renderUser({ userId, email, name, accounts }: UserRow): User {
  return { userId, email, name, accounts };
}
