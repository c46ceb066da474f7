import type { Ref, Scope, Volumes } from '../container-service.ts';
import { ServiceError } from '../service-error.ts';
import { volumePageSchema, volumeSchema } from '../wire/volume.ts';
import type { Api, ApiCall } from './api.ts';
import { pages } from './pages.ts';
import { withReadableState } from './with-readable-state.ts';

/** Endpoints 3 to 6 over HTTP. */
export function httpVolumes(api: Api): Omit<Volumes, 'files'> {
  return {
    // Sent once: a second attempt would find the volume existing, and the password, shown only once, would be lost.
    async create(scope, { volumeID, transfer = false, signal } = {}) {
      const what = volumeID === undefined ? 'create a volume' : `create volume ${volumeID}`;
      const body = transfer ? { service: {} } : {};
      const call: ApiCall = { method: 'POST', path: collection(scope), query: { volumeID }, body, what, signal };
      const volume = await api.callOnce(call, volumeSchema);
      if (volumeID !== undefined && volume.id !== volumeID) {
        throw new ServiceError('INVALID_REPLY', `could not ${what}: the reply is about '${volume.id.slice(0, 100)}'`);
      }
      return volume;
    },
    list(scope, { pageSize, signal } = {}) {
      const what = `list the volumes of ${scope.clusterID}/${scope.accountID}`;
      return pages(async (nextPageToken) => {
        const query = { pageSize, nextPageToken };
        const page = await api.call({ method: 'GET', path: collection(scope), query, what, signal }, volumePageSchema);
        const secrets = api.secrets();
        return { items: page.volumes.map((it) => withReadableState(it, secrets)), nextPageToken: page.nextPageToken };
      }, what);
    },
    delete: (ref, { force, signal } = {}) =>
      api.act(
        { method: 'DELETE', path: pathOf(ref), query: { force }, what: `delete volume ${ref.id}`, signal },
        { doneAlready: (error) => error.code === 'NOT_FOUND' },
      ),
    undelete: (ref, { signal } = {}) =>
      api.act({ method: 'POST', path: pathOf(ref), verb: ':undelete', what: `undelete volume ${ref.id}`, signal }),
  };
}

const collection = (scope: Scope) => ['clusters', scope.clusterID, 'accounts', scope.accountID, 'volumes'];
const pathOf = (ref: Ref) => [...collection(ref), ref.id];
