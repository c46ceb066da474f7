import type { ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { Principal } from '../accounts/principal.ts';
import type { Tokens } from '../accounts/tokens.ts';

/** How long a reply in progress may continue after its user has logged out or lost an account. */
const LOOK_MS = 1_000;

/** What the watch depends on. */
export interface LoginWatchOptions {
  readonly tokens: Pick<Tokens, 'principalOf'>;
  /** Aborted when the listener closes. */
  readonly closing: AbortSignal;
}

/**
 * Cuts replies in progress, such as followed logs and streams of events, soon after their token has become invalid or its
 * user has lost an account that the request could use. Other processes change users, so the store is looked at. Only for
 * routes that are added later.
 */
export function addLoginWatch(api: FastifyInstance, { tokens, closing }: LoginWatchOptions): void {
  const open = new Map<ServerResponse, Login>();
  api.addHook('preHandler', async ({ principal, token }, reply) => {
    if (principal === undefined || token === undefined) return;
    open.set(reply.raw, { principal, token });
    reply.raw.once('close', () => open.delete(reply.raw));
  });
  const timer = setInterval(() => {
    for (const [reply, login] of open) if (!isValid(login, tokens)) reply.destroy();
  }, LOOK_MS).unref();
  closing.addEventListener('abort', () => clearInterval(timer));
}

interface Login {
  readonly token: string;
  /** At the beginning of the request. */
  readonly principal: Principal;
}

function isValid({ token, principal }: Login, tokens: LoginWatchOptions['tokens']): boolean {
  const now = tokens.principalOf(token);
  if (now === undefined) return false;
  return principal.accounts.every(({ clusterID, accountID }) =>
    now.accounts.some((one) => one.clusterID === clusterID && one.accountID === accountID),
  );
}
