import { RequestError } from '../protocol/request-error.ts';
import type { Store } from '../store/store.ts';
import { TABLES } from '../store/tables.ts';
import type { UserRow } from '../store/user-row.ts';
import type { LoginThrottle } from './login-throttle.ts';
import { isPassword, passwordsWaiting } from './password.ts';
import type { Tokens } from './tokens.ts';

/** Logins that may wait for their password to be hashed, 65 ms each. */
const MAX_WAITING = 64;

/** The credentials of a login, unchecked. */
export interface LoginRequest {
  readonly email: string;
  /** The MD5 of the raw password, as sent on the wire. */
  readonly password: string;
  /** The caller's network address. */
  readonly address: string;
}

/** Endpoint 13: issues a token. An unknown user and a wrong password give the same error after the same time. */
export async function login(
  accounts: { store: Store; throttle: LoginThrottle; tokens: Tokens },
  request: LoginRequest,
): Promise<{ token: string; user: UserRow }> {
  const { store, throttle, tokens } = accounts;
  const email = request.email.trim().toLowerCase();
  const attempt = { account: email, address: request.address };
  const waitMs = passwordsWaiting() >= MAX_WAITING ? 2000 : throttle.waitMs(attempt);
  if (waitMs > 0) {
    throw new RequestError(
      'RATE_EXCEEDED',
      'could not log in because there were too many attempts; wait before the next',
      {
        retryAfterMs: waitMs,
      },
    );
  }
  const user = store.get(TABLES.users, email);
  // Counted before the check, so that concurrent attempts cannot exceed the limit.
  throttle.failed(attempt);
  if (!(await isPassword(request.password.toLowerCase(), user?.password)) || user === undefined) {
    throw new RequestError(
      'CREDENTIALS_INVALID',
      'could not log in because the e-mail address or the password is wrong',
    );
  }
  throttle.succeeded(attempt);
  return { token: await tokens.issue(user), user };
}
