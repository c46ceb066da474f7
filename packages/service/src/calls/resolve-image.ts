import type { ResolvedImage, Scope } from '@sluice/client';
import { authorize, rejectScope } from '../accounts/authorize.ts';
import type { Principal } from '../accounts/principal.ts';
import type { Cluster } from '../containers/cluster.ts';
import { EngineError } from '../engines/engine.ts';
import { RequestError } from '../protocol/request-error.ts';

/** Resolves an image to the digest that a container of the account would run now; undefined if the engine cannot tell. */
export async function resolveImage(
  clusters: ReadonlyMap<string, Cluster>,
  request: {
    readonly principal: Principal;
    readonly scope: Scope;
    readonly image: string;
    readonly fresh?: boolean | undefined;
  },
): Promise<ResolvedImage | undefined> {
  const { scope, image, fresh } = request;
  authorize(request.principal, scope);
  const cluster = clusters.get(scope.clusterID) ?? rejectScope();
  if (image === '' || image.length > 1024) throw invalid('must be 1 to 1024 characters long');
  const { unavailable } = cluster.driver;
  if (unavailable !== undefined) throw away(image, unavailable);
  try {
    const digest = await cluster.driver.resolveImage(image, { accountID: scope.accountID, fresh });
    return digest === undefined ? undefined : { digest };
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    if (error.code === 'REJECTED') throw invalid(`is rejected: ${error.message}`);
    throw away(image, error.message, error);
  }
}

/** Without a time to wait: a run starts without the digest instead of waiting for an engine that may be away for long. */
function away(image: string, why: string, cause?: unknown): RequestError {
  return new RequestError('ENGINE_UNAVAILABLE', `could not resolve the image '${image}': ${why}`, { cause });
}

function invalid(why: string): RequestError {
  return new RequestError('PARAMETER_INVALID', `could not use the query parameter 'image' because it ${why}`, {
    details: { field: 'image' },
  });
}
