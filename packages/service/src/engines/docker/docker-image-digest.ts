import { z } from 'zod';
import { EngineError, type ImageQuery } from '../engine.ts';
import { checkImageName } from '../image-name.ts';
import { type DockerApi, DockerError } from './docker-api.ts';
import { type DockerConfig, registryLogin } from './docker-config.ts';
import { authHeader, registryOf, withTag } from './docker-image.ts';

const localSchema = z.looseObject({ Id: z.string(), RepoDigests: z.array(z.string()).nullish() });
const registrySchema = z.looseObject({ Descriptor: z.looseObject({ digest: z.string() }) });

/** A registry that does not respond must not delay a run. */
const REGISTRY_WITHIN_MS = 30_000;

/**
 * The digest of the image that a container would run now: the daemon's local image, otherwise the one that it would pull.
 * Undefined if neither is known. The registry's digest is preferred, since it is the same before and after the pull and on
 * every machine; an image that is from no registry is identified by its ID.
 */
export async function findImageDigest(
  api: DockerApi,
  image: string,
  asked: ImageQuery & { readonly config: DockerConfig },
): Promise<string | undefined> {
  checkImageName(image);
  const named = /@(sha256:[0-9a-f]{64})$/.exec(image)?.[1];
  if (named !== undefined) return named;
  const access = registryLogin(asked.config, { registry: registryOf(image), accountID: asked.accountID });
  // The same rule as for a start: if accounts have their own logins, the image is pulled even if the daemon has it.
  const isRemote = access.isPrivate || asked.fresh === true;
  const local = isRemote ? undefined : await find(api, { path: `/images/${image}/json`, schema: localSchema });
  if (local !== undefined) return digestIn(local.RepoDigests ?? [], image) ?? local.Id;
  const headers = access.login === undefined ? {} : { 'x-registry-auth': authHeader(access.login) };
  const remote = await find(api, { path: `/distribution/${withTag(image)}/json`, schema: registrySchema, headers });
  // Its digest here may be older, and no digest would let the name stand for any image.
  if (remote === undefined && asked.fresh === true) {
    throw new EngineError('UNAVAILABLE', `${registryOf(image)} does not tell which image it has by this name now`);
  }
  return remote?.Descriptor.digest;
}

/** Undefined if the daemon or the registry does not have it or denies access. */
async function find<T>(
  api: DockerApi,
  query: { readonly path: string; readonly schema: z.ZodType<T>; readonly headers?: Readonly<Record<string, string>> },
): Promise<T | undefined> {
  const { path, schema, headers = {} } = query;
  try {
    return schema.parse(await api.call('GET', path, { headers, answersWithin: REGISTRY_WITHIN_MS }));
  } catch (error) {
    if (error instanceof DockerError) return undefined;
    throw error;
  }
}

/** The digest in the image's own repository, selected from the digests of all repositories that contain it. */
export function digestIn(repoDigests: readonly string[], image: string): string | undefined {
  const wanted = repositoryOf(image);
  const known = repoDigests.find((it) => repositoryOf(it.slice(0, it.indexOf('@'))) === wanted);
  return known?.slice(known.indexOf('@') + 1);
}

/** The name without tag and digest, and without the prefixes that daemons abbreviate differently. */
function repositoryOf(image: string): string {
  const name = image.replace(/@.*$/, '').replace(/:[^/:]*$/, '');
  return name.replace(/^(?:(?:index\.)?docker\.io|localhost)\//, '').replace(/^library\//, '');
}
