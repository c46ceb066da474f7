import type { Containers, Ref, Scope } from '../container-service.ts';
import { isServiceError, ServiceError } from '../service-error.ts';
import { containerPageSchema, containerSchema } from '../wire/container.ts';
import type { Api, ApiCall } from './api.ts';
import { logStream } from './log-stream.ts';
import { maskStream } from './mask-stream.ts';
import { pages } from './pages.ts';
import { withReadableState } from './with-readable-state.ts';

/** Endpoints 7 to 12 over HTTP. */
export function httpContainers(api: Api, options: { bodyMs: number }): Containers {
  const get: Containers['get'] = async (ref, { signal } = {}) => {
    const what = `get container ${ref.id}`;
    const container = await api.call({ method: 'GET', path: pathOf(ref), what, signal }, containerSchema);
    return withReadableState(sameId(container, { id: ref.id, what }), api.secrets());
  };
  return {
    get,
    async create(scope, spec, { containerID, signal } = {}) {
      const what = containerID === undefined ? 'create a container' : `create container ${containerID}`;
      const call: ApiCall = {
        method: 'POST',
        path: collection(scope),
        query: { containerID },
        body: spec,
        what,
        signal,
      };
      const container = await api.callOnce(call, containerSchema);
      const same = containerID === undefined ? container : sameId(container, { id: containerID, what });
      return withReadableState(same, api.secrets());
    },
    list(scope, { all, pageSize, signal } = {}) {
      const what = `list the containers of ${scope.clusterID}/${scope.accountID}`;
      return pages(async (nextPageToken) => {
        const query = { all, pageSize, nextPageToken };
        const call: ApiCall = { method: 'GET', path: collection(scope), query, what, signal };
        const page = await api.call(call, containerPageSchema);
        const secrets = api.secrets();
        const items = page.containers.map((item) => withReadableState(item, secrets));
        return { items, nextPageToken: page.nextPageToken };
      }, what);
    },
    logs(ref, { tail, follow = false, signal, onCut } = {}) {
      const what = `read the log of container ${ref.id}`;
      const query = { tail, follow: follow ? true : undefined };
      const call: ApiCall = { method: 'GET', path: [...pathOf(ref), 'logs'], query, what, signal };
      const phase = () => phaseOf(get(ref, signal === undefined ? {} : { signal }));
      return maskStream(logStream(api, { call, tail, follow, bodyMs: options.bodyMs, phase, onCut }), api.secrets);
    },
    cancel: (ref, { signal } = {}) =>
      api.act({ method: 'POST', path: pathOf(ref), verb: ':cancel', what: `cancel container ${ref.id}`, signal }),
    delete: (ref, { signal } = {}) =>
      api.act(
        { method: 'DELETE', path: pathOf(ref), what: `delete container ${ref.id}`, signal },
        { doneAlready: (error) => error.code === 'NOT_FOUND' },
      ),
  };
}

/** Undefined if the container no longer exists; `''` if the service reports no phase. */
async function phaseOf(container: Promise<{ phase?: string | undefined }>): Promise<string | undefined> {
  try {
    return (await container).phase ?? '';
  } catch (error) {
    if (isServiceError(error, 'NOT_FOUND')) return undefined;
    throw error;
  }
}

/** Rejects a reply about another container. */
function sameId<T extends { id: string }>(thing: T, asked: { id: string; what: string }): T {
  if (thing.id === asked.id) return thing;
  throw new ServiceError('INVALID_REPLY', `could not ${asked.what}: the reply is about '${thing.id.slice(0, 100)}'`);
}

const collection = (scope: Scope) => ['clusters', scope.clusterID, 'accounts', scope.accountID, 'containers'];
const pathOf = (ref: Ref) => [...collection(ref), ref.id];
