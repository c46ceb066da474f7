import {
  accountListSchema,
  containerPageSchema,
  containerSchema,
  instanceTypeListSchema,
  type Ref,
  resolvedImageSchema,
  type Scope,
  volumePageSchema,
  volumeSchema,
} from '@sluice/client';
import { z } from 'zod';
import { renderContainerPage } from '../containers/list-containers.ts';
import { containerSpecSchema } from '../containers/parse-container-spec.ts';
import { parseBody } from '../protocol/parse-body.ts';
import { RequestError } from '../protocol/request-error.ts';
import { type ApiRequest, type ApiRoute, defineRoute } from './api-route.ts';
import { dropZeroFields, isObject, replyOnly } from './drop-zero-fields.ts';

/** Some clients send the whole resource, which contains these fields too; an empty one counts as absent. */
const identitySchema = z.strictObject({
  id: z.string().optional(),
  clusterID: z.string().optional(),
  accountID: z.string().optional(),
});

const volumeRequestSchema = identitySchema.extend({ service: z.strictObject({}).optional() });
const isVolumeReplyField = replyOnly(volumeSchema.shape, volumeRequestSchema.shape);
const containerRequestSchema = containerSpecSchema.extend(identitySchema.shape);
const isContainerReplyField = replyOnly(containerSchema.shape, containerRequestSchema.shape);
const isPortReplyField = replyOnly({ port: 0 }, { https: {} });
/** For objects that must be empty in a request. */
const isAny = () => true;

const PAGE_QUERY = { pageSize: 'integer', nextPageToken: 'string' } as const;

/** Endpoints 1 to 12 in the protocol's order, with the extension `resolveImage` after the second. */
export const ROUTES: readonly ApiRoute[] = [
  defineRoute({
    operationId: 'listAccounts',
    summary: 'List accounts',
    method: 'GET',
    path: '/clusters/{clusterID}/accounts',
    query: {},
    reply: accountListSchema,
    handle: async ({ calls, principal, at }) => ({ accounts: calls.listAccounts(principal, at.clusterID) }),
  }),
  defineRoute({
    operationId: 'listInstanceTypes',
    summary: 'List instance types',
    method: 'GET',
    path: '/clusters/{clusterID}/instanceTypes',
    query: {},
    reply: instanceTypeListSchema,
    handle: async ({ calls, principal, at }) => ({ instanceTypes: calls.listInstanceTypes(principal, at.clusterID) }),
  }),
  defineRoute({
    operationId: 'resolveImage',
    summary: 'Resolve an image to its digest (extension)',
    method: 'GET',
    path: '/clusters/{clusterID}/accounts/{accountID}/images',
    query: { image: 'string', fresh: 'boolean' },
    reply: resolvedImageSchema,
    handle: async ({ calls, principal, at, query }) =>
      (await calls.resolveImage(principal, scopeOf(at), { image: query.image ?? '', fresh: query.fresh })) ?? {},
  }),
  defineRoute({
    operationId: 'createVolume',
    summary: 'Create a volume',
    method: 'POST',
    path: '/clusters/{clusterID}/accounts/{accountID}/volumes',
    query: { volumeID: 'string' },
    body: volumeRequestSchema,
    reply: volumeSchema,
    async handle({ calls, principal, at, query, body, address }) {
      const request = parseBody(volumeRequestSchema, volumeFields(body ?? {}));
      checkIdentity(request, at);
      const volumeID = resolveId('volumeID', query.volumeID, request.id);
      const transfer = request.service !== undefined;
      return calls.volumes.create(principal, scopeOf(at), { transfer, address, ...(volumeID && { volumeID }) });
    },
  }),
  defineRoute({
    operationId: 'listVolumes',
    summary: 'List volumes',
    method: 'GET',
    path: '/clusters/{clusterID}/accounts/{accountID}/volumes',
    query: PAGE_QUERY,
    reply: volumePageSchema,
    handle: async ({ calls, principal, at, query }) =>
      calls.volumes.list(principal, scopeOf(at), { pageSize: query.pageSize, token: query.nextPageToken }),
  }),
  defineRoute({
    operationId: 'deleteVolume',
    summary: 'Delete a volume',
    method: 'DELETE',
    path: '/clusters/{clusterID}/accounts/{accountID}/volumes/{volumeID}',
    query: { force: 'boolean' },
    reply: 'nothing',
    handle: ({ calls, principal, at, query }) =>
      calls.volumes.delete(principal, refOf(at, 'volumeID'), { force: query.force === true }),
  }),
  defineRoute({
    operationId: 'undeleteVolume',
    summary: 'Undo volume deletion',
    method: 'POST',
    path: '/clusters/{clusterID}/accounts/{accountID}/volumes/{volumeID}:undelete',
    query: {},
    reply: 'nothing',
    handle: ({ calls, principal, at }) => calls.volumes.undelete(principal, refOf(at, 'volumeID')),
  }),
  defineRoute({
    operationId: 'createContainer',
    summary: 'Create a container',
    method: 'POST',
    path: '/clusters/{clusterID}/accounts/{accountID}/containers',
    query: { containerID: 'string' },
    body: containerRequestSchema,
    reply: containerSchema,
    async handle({ calls, principal, at, query, body }) {
      if (body === undefined) throw new RequestError('BODY_INVALID', 'could not create a container without a body');
      const { id, clusterID, accountID, ...spec } = containerFields(body);
      const identity = parseBody(identitySchema, { id, clusterID, accountID });
      checkIdentity(identity, at);
      const containerID = resolveId('containerID', query.containerID, identity.id);
      return calls.containers.create(principal, scopeOf(at), { spec, ...(containerID && { containerID }) });
    },
  }),
  defineRoute({
    operationId: 'getContainer',
    summary: 'Get a container',
    method: 'GET',
    path: '/clusters/{clusterID}/accounts/{accountID}/containers/{containerID}',
    query: {},
    reply: containerSchema,
    handle: ({ calls, principal, at }) => calls.containers.get(principal, refOf(at, 'containerID')),
  }),
  defineRoute({
    operationId: 'listContainers',
    summary: 'List containers',
    method: 'GET',
    path: '/clusters/{clusterID}/accounts/{accountID}/containers',
    query: { all: 'boolean', ...PAGE_QUERY },
    reply: containerPageSchema,
    handle: async ({ calls, principal, at, query }) => {
      const { all, pageSize, nextPageToken: token } = query;
      return renderContainerPage(await calls.containers.list(principal, scopeOf(at), { all, pageSize, token }));
    },
  }),
  defineRoute({
    operationId: 'readLogs',
    summary: 'Read logs',
    method: 'GET',
    path: '/clusters/{clusterID}/accounts/{accountID}/containers/{containerID}/logs',
    query: { tail: 'integer', follow: 'boolean' },
    reply: 'text',
    handle: ({ calls, principal, at, query, signal }) =>
      calls.containers.logs(principal, refOf(at, 'containerID'), { ...query, signal, reuse: true }),
  }),
  defineRoute({
    operationId: 'cancelContainer',
    summary: 'Cancel a container',
    method: 'POST',
    path: '/clusters/{clusterID}/accounts/{accountID}/containers/{containerID}:cancel',
    query: {},
    reply: 'nothing',
    handle: ({ calls, principal, at }) => calls.containers.cancel(principal, refOf(at, 'containerID')),
  }),
  defineRoute({
    operationId: 'deleteContainer',
    summary: 'Delete a container',
    method: 'DELETE',
    path: '/clusters/{clusterID}/accounts/{accountID}/containers/{containerID}',
    query: {},
    reply: 'nothing',
    handle: ({ calls, principal, at }) => calls.containers.delete(principal, refOf(at, 'containerID')),
  }),
];

function scopeOf(at: ApiRequest['at']): Scope {
  return { clusterID: at.clusterID, accountID: at.accountID };
}

function refOf(at: ApiRequest['at'], id: 'volumeID' | 'containerID'): Ref {
  return { ...scopeOf(at), id: at[id] };
}

function volumeFields(body: unknown): unknown {
  const given = dropZeroFields(body, isVolumeReplyField);
  return isObject(given) && 'service' in given ? { ...given, service: dropZeroFields(given.service, isAny) } : given;
}

function containerFields(body: unknown): Readonly<Record<string, unknown>> {
  const given = dropZeroFields(body, isContainerReplyField);
  if (!isObject(given)) throw new RequestError('BODY_INVALID', 'could not use the body because it is not an object');
  if (!isObject(given.ports)) return given;
  const ports = Object.entries(given.ports).map(([name, port]) => [name, portFields(port)] as const);
  return { ...given, ports: Object.fromEntries(ports) };
}

function portFields(port: unknown): unknown {
  const given = dropZeroFields(port, isPortReplyField);
  return isObject(given) && 'https' in given ? { ...given, https: dropZeroFields(given.https, isAny) } : given;
}

function checkIdentity(
  identity: { clusterID?: string | undefined; accountID?: string | undefined },
  at: ApiRequest['at'],
) {
  for (const field of ['clusterID', 'accountID'] as const) {
    const given = identity[field];
    if (given !== undefined && given !== at[field]) {
      throw new RequestError(
        'FIELD_INVALID',
        `could not use the field '${field}' because the path says '${at[field]}'`,
        {
          details: { field },
        },
      );
    }
  }
}

/** The protocol has the ID as a query parameter; published clients send it in the body. */
function resolveId(parameter: string, query: string | undefined, body: string | undefined): string | undefined {
  if (query !== undefined && body !== undefined && query !== body) {
    throw new RequestError(
      'FIELD_INVALID',
      `could not use the field 'id' because the parameter ${parameter} says otherwise`,
      {
        details: { field: 'id' },
      },
    );
  }
  return query ?? body;
}
