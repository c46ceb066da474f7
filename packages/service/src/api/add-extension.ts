import type { FastifyInstance } from 'fastify';
import { authorize, matchingAccounts } from '../accounts/authorize.ts';
import { login } from '../accounts/login.ts';
import { wirePassword } from '../accounts/password.ts';
import { principalOf, tokenOf } from './principal-of.ts';
import type { ServiceExtension } from './service-extension.ts';

/** Adds the routes of another program, with the users of the service. */
export function addExtension(api: FastifyInstance, extend: ServiceExtension, users: Parameters<typeof login>[0]): void {
  const { tokens } = users;
  void api.register((server) =>
    extend(server, {
      authorize(request, scope, token) {
        const headers = token === undefined ? request.headers : { authorization: `Bearer ${token}` };
        request.principal = principalOf({ headers }, tokens.principalOf);
        request.token = tokenOf({ headers });
        if (scope !== undefined) authorize(request.principal, scope);
        return request.principal.userId;
      },
      accountsOf(token) {
        const principal = tokens.principalOf(token);
        return principal && matchingAccounts(principal, { clusterID: '-', accountID: '-' });
      },
      async login(request, { email, password }) {
        const credentials = { email, password: wirePassword(password), address: request.ip ?? 'local' };
        return (await login(users, credentials)).token;
      },
      logout: (token) => tokens.revoke(token),
    }),
  );
}
