import { type Clock, createSystemClock } from '@sluice/home';
import { refKey } from '../session/attempt.ts';
import type { SharedPolls } from '../session/shared-polls.ts';
import { type AccountPolls, createAccountPolls } from './account-polls.ts';

/** Shares polls between all runs that are given the result and that use the same service with the same login. */
export function createSharedPolls(clock: Pick<Clock, 'now' | 'setTimer'> = createSystemClock()): SharedPolls {
  const accounts = new Map<string, AccountPolls>();
  return {
    join(run, scope) {
      const key = refKey({ ...scope, id: '' });
      const account = accounts.get(key) ?? createAccountPolls(scope, { clock, onEmpty: () => accounts.delete(key) });
      accounts.set(key, account);
      return account.join(run);
    },
  };
}
