import type { Discovery } from '../container-service.ts';
import { accountListSchema } from '../wire/account.ts';
import { resolvedImageSchema } from '../wire/image.ts';
import { instanceTypeListSchema } from '../wire/instance-type.ts';
import type { Api } from './api.ts';

/** Endpoints 1 and 2 and the extension `images` over HTTP. */
export function httpDiscovery(api: Api): Discovery {
  return {
    async listAccounts(clusterID, options = {}) {
      const call = {
        method: 'GET',
        path: ['clusters', clusterID, 'accounts'],
        what: `list the accounts of cluster ${clusterID}`,
        signal: options.signal,
      } as const;
      return (await api.call(call, accountListSchema)).accounts;
    },
    async listInstanceTypes(clusterID, options = {}) {
      const call = {
        method: 'GET',
        path: ['clusters', clusterID, 'instanceTypes'],
        what: `list the instance types of cluster ${clusterID}`,
        signal: options.signal,
      } as const;
      return (await api.call(call, instanceTypeListSchema)).instanceTypes;
    },
    async resolveImage({ clusterID, accountID }, image, options = {}) {
      const call = {
        method: 'GET',
        path: ['clusters', clusterID, 'accounts', accountID, 'images'],
        query: { image, ...(options.fresh && { fresh: 'true' }) },
        what: `resolve the image ${image}`,
        signal: options.signal,
      } as const;
      const { digest } = await api.call(call, resolvedImageSchema);
      return digest === undefined ? undefined : { digest };
    },
  };
}
