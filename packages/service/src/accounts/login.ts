import { RequestError } from '../protocol/request-error.ts';
import type { Store } from '../store/store.ts';
import { TABLES } from '../store/tables.ts';
import type { UserRow } from '../store/user-row.ts';
import type { LoginThrottle } from './login-throttle.ts';
import { isPassword, passwordsWaiting } from './password.ts';
import type { Tokens } from './tokens.ts';

/** Logins that may wait for their password to be derived; 65 ms each. */
const MAX_WAITING = 64;

export interface LoginRequest {
  readonly email: string;
  /** The MD5 that the wire brings. */
  readonly password: string;
  /** Of the caller's network. */
  readonly address: string;
}

/** Endpoint 13: a token for valid credentials; one refusal, after one length of time, for all others. */
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
      'could not log in because there were too many tries; wait before the next',
      {
        retryAfterMs: waitMs,
      },
    );
  }
  const user = store.get(TABLES.users, email);
  // Counted before the answer is known, so that tries at the same time are not all let through.
  throttle.failed(attempt);
  if (!(await isPassword(request.password.toLowerCase(), user?.password)) || user === undefined) {
    throw new RequestError(
      'CREDENTIALS_INVALID',
      'could not log in because the e-mail address or the password is wrong',
    );
  }
  throttle.succeeded(attempt);
  return { token: await tokens.issue(email), user };
}
