import type { Scope } from '@sluice/client';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { addApi, SHARED_ROUTES } from '../api/add-run-api.ts';
import { API_PREFIX } from '../api/openapi.ts';
import { SERVER_ORDER_ROUTES } from '../api/order-routes.ts';
import type { RunApi } from '../api/run-api.ts';
import { ApiError } from '../errors/api-error.ts';
import type { HostedAccounts } from './open-hosted-accounts.ts';
import { readCookie, requireOwnOrigin } from './session-cookie.ts';

/** How the server of a service is extended by the runs of its accounts. */
export interface HostedApiOptions {
  readonly accounts: Pick<HostedAccounts, 'find'>;
  /**
   * The ID of the user, if the request may use the account. Throws the same error for an account that does not exist.
   * Without a scope, the path is none of the API.
   */
  readonly authorize: (http: FastifyRequest, scope: Scope | undefined, token?: string) => string;
  /** The URL of the server for clients of this request, without a slash at the end. */
  readonly urlOf: (http: FastifyRequest) => string;
}

const ACCOUNT_PREFIX = `${API_PREFIX}/clusters/{clusterId}/accounts/{accountId}`;
/** Where the dashboard of an account calls the same API, with the cookie of its user. */
const PAGE_PREFIX = `/ui/{clusterId}/{accountId}${API_PREFIX}`;

/** Adds the run API of every account. Nothing of an account is touched before its user is authorized. */
export async function addHostedApi(
  server: FastifyInstance,
  { accounts, authorize, urlOf }: HostedApiOptions,
): Promise<void> {
  const users = new WeakMap<FastifyRequest, string>();
  const place = {
    routes: [...SHARED_ROUTES, ...SERVER_ORDER_ROUTES],
    async find(http: FastifyRequest): Promise<RunApi> {
      const scope = findScope(http)!;
      requireName(http);
      const { api } = await accounts.find(scope);
      const serviceUrl = urlOf(http);
      const page = `${serviceUrl}/ui/${scope.clusterID}/${scope.accountID}/`;
      const runUrl = (runId: string) => `${page}#/runs/${runId}`;
      return { ...api, userName: users.get(http) ?? api.userName, runUrl, serviceUrl };
    },
  };
  await addApi(server, {
    ...{ ...place, prefix: ACCOUNT_PREFIX },
    admit: (http) => void users.set(http, authorize(http, findScope(http))),
  });
  await addApi(server, {
    ...{ ...place, prefix: PAGE_PREFIX },
    admit(http) {
      requireOwnOrigin(http);
      users.set(http, authorize(http, findScope(http), readCookie(http) ?? ''));
    },
  });
}

/** Of a file of a run, or of a schedule: it becomes a part of local paths. */
function requireName({ params }: FastifyRequest): void {
  const { name } = params as { name?: string };
  if (name === undefined || /^[a-z0-9-]+(\.[a-z]+)?$/.test(name)) return;
  throw new ApiError(404, 'PATH_NOT_FOUND', 'could not find anything with this name');
}

function findScope({ params }: FastifyRequest): Scope | undefined {
  const { clusterId, accountId } = params as { clusterId?: string; accountId?: string };
  return clusterId === undefined || accountId === undefined
    ? undefined
    : { clusterID: clusterId, accountID: accountId };
}
