import { z } from 'zod';
import { checkImageName } from '../image-name.ts';
import { type DockerApi, DockerError } from './docker-api.ts';
import { type DockerConfig, registryLogin } from './docker-config.ts';
import { authHeader, registryOf, withTag } from './docker-image.ts';

const localSchema = z.looseObject({ Id: z.string(), RepoDigests: z.array(z.string()).nullish() });
const registrySchema = z.looseObject({ Descriptor: z.looseObject({ digest: z.string() }) });

/** A registry that does not answer must not hold up a run. */
const REGISTRY_WITHIN_MS = 30_000;

/**
 * The digest of what a container with this image would run now: of the image that the daemon has, else of the one that
 * it would pull. Undefined where neither can be told. The digest that the registry knows comes first, since it is the
 * same before and after the pull and on every machine; an image that came from no registry has its ID.
 */
export async function findImageDigest(
  api: DockerApi,
  image: string,
  asked: { readonly config: DockerConfig; readonly accountID: string },
): Promise<string | undefined> {
  checkImageName(image);
  const named = /@(sha256:[0-9a-f]{64})$/.exec(image)?.[1];
  if (named !== undefined) return named;
  const access = registryLogin(asked.config, { registry: registryOf(image), accountID: asked.accountID });
  // As a start does: where accounts have logins of their own, it pulls although the daemon has the image.
  const local = access.isPrivate ? undefined : await find(api, `/images/${image}/json`, localSchema);
  if (local !== undefined) return digestIn(local.RepoDigests ?? [], image) ?? local.Id;
  const headers = access.login === undefined ? {} : { 'x-registry-auth': authHeader(access.login) };
  const remote = await find(api, `/distribution/${withTag(image)}/json`, registrySchema, headers);
  return remote?.Descriptor.digest;
}

/** Undefined where the daemon, or the registry behind it, has no such thing or does not give it. */
async function find<T>(
  api: DockerApi,
  path: string,
  schema: z.ZodType<T>,
  headers: Record<string, string> = {},
): Promise<T | undefined> {
  try {
    return schema.parse(await api.call('GET', path, { headers, answersWithin: REGISTRY_WITHIN_MS }));
  } catch (error) {
    if (error instanceof DockerError) return undefined;
    throw error;
  }
}

/** The digest under which the image's own repository knows it, among those of all repositories that it is in. */
export function digestIn(repoDigests: readonly string[], image: string): string | undefined {
  const wanted = repositoryOf(image);
  const known = repoDigests.find((it) => repositoryOf(it.slice(0, it.indexOf('@'))) === wanted);
  return known?.slice(known.indexOf('@') + 1);
}

/** Without tag and digest, in the long form that daemons shorten in ways of their own. */
function repositoryOf(image: string): string {
  const name = image.replace(/@.*$/, '').replace(/:[^/:]*$/, '');
  return name.replace(/^(?:(?:index\.)?docker\.io|localhost)\//, '').replace(/^library\//, '');
}
