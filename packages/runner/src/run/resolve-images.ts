import { setMaxListeners } from 'node:events';
import { type ContainerService, FEATURES, type InstanceType, isServiceError } from '@sluice/client';
import { evaluateTogether, own, type Plan, type RunContext, resolvePlannedText } from '@sluice/core';
import { firstClusters, type ImageDigests, type RunPlacement } from '@sluice/run';
import { announcesFeature } from '../placement/announces-feature.ts';

/** What the images of a plan are resolved with. */
export interface ImageSource {
  readonly plan: Plan;
  readonly service: ContainerService;
  readonly home: { readonly clusterID: string; readonly accountID: string };
  readonly placement: RunPlacement | undefined;
  readonly instanceTypes: readonly InstanceType[];
  readonly run: RunContext['run'];
  /** Receives one message for each cluster that did not reply with the digest of an image. */
  readonly warn?: ((message: string) => void) | undefined;
}

/** A registry that does not reply must not delay a run for longer, with all images and all repetitions of requests. */
const WITHIN_MS = 5_000;
/** Requests to a cluster at once. */
const AT_ONCE = 32;

/**
 * Requests the digest of each image once from the first cluster of each cell that uses it, if the cluster announces
 * digests. Images that are known only during the run, or that the service cannot resolve within a few seconds, are
 * omitted; fingerprints contain their names instead.
 */
export async function resolveImages(source: ImageSource): Promise<ImageDigests> {
  const wanted = new Map<string, Set<string>>();
  const fresh = new Set<string>();
  const { steps } = source.plan;
  const names = evaluateTogether(source.plan, () => steps.map(({ step: { image } }) => image && nameOf(source, image)));
  for (const { index, step } of steps) {
    const image = names[index];
    if (!image) continue;
    // A step that pulls always decides for the others, too: after it, the machine has what the registry has.
    if (step.docker?.pull === 'always') fresh.add(image);
    for (const clusterID of firstClusters(source, index)) {
      if (!announcesFeature(FEATURES.imageDigests, { ...source, clusterID })) continue;
      wanted.set(clusterID, (wanted.get(clusterID) ?? new Set()).add(image));
    }
  }
  const limit = createTimeLimit();
  try {
    const clusters = [...wanted].map(async ([clusterID, images]) => {
      const found = await askAll(source, { clusterID, images: [...images], fresh, limit });
      warnOfFaults(source, clusterID, found);
      const known = found.flatMap(({ image, digest }) => (digest === undefined ? [] : [[image, digest] as const]));
      return [clusterID, Object.fromEntries(known)] as const;
    });
    return Object.fromEntries(await Promise.all(clusters)) as ImageDigests;
  } finally {
    limit.end();
  }
}

interface Answer {
  readonly digest?: string | undefined;
  /** Why the service did not reply. */
  readonly fault?: string;
}

function warnOfFaults(
  { warn }: ImageSource,
  clusterID: string,
  found: readonly (Answer & { readonly image: string })[],
): void {
  const [first, ...more] = found.filter(({ fault }) => fault !== undefined);
  if (first === undefined) return;
  const rest = more.length === 0 ? '' : ` (and of ${more.length} more)`;
  const what = `could not find out the digest of image ${first.image}${rest} on cluster ${clusterID}`;
  warn?.(`${what}: ${first.fault}; its name identifies it in the cache of this run`);
}

function nameOf({ plan, run }: ImageSource, template: string): string | undefined {
  const image = resolvePlannedText(plan, template, { run });
  return image.ok ? image.value : undefined;
}

interface TimeLimit {
  readonly signal: AbortSignal;
  /** Resolves when the time has ended. */
  readonly expired: Promise<Answer>;
  end(): void;
}

function createTimeLimit(): TimeLimit {
  const late = new AbortController();
  // One for each request.
  setMaxListeners(0, late.signal);
  let timer: NodeJS.Timeout | undefined;
  // A service in this process cannot abort what it does.
  const expired = new Promise<Answer>((resolve) => {
    timer = setTimeout(() => {
      resolve({ fault: `no reply came within ${WITHIN_MS / 1000} s` });
      late.abort();
    }, WITHIN_MS);
  });
  return { signal: late.signal, expired, end: () => clearTimeout(timer) };
}

interface Asked {
  readonly clusterID: string;
  readonly images: readonly string[];
  /** Those whose digest the registry tells, not the machine. */
  readonly fresh: ReadonlySet<string>;
  readonly limit: TimeLimit;
}

interface Wanted {
  readonly image: string;
  readonly isFresh: boolean;
}

/** A plan may have any number of images. */
async function askAll(source: ImageSource, { clusterID, images, fresh, limit }: Asked) {
  const found: (Answer & { readonly image: string })[] = [];
  for (let start = 0; start < images.length; start += AT_ONCE) {
    const some = images.slice(start, start + AT_ONCE);
    found.push(
      ...(await Promise.all(
        some.map(async (image) => ({
          image,
          ...(await ask(source, { clusterID, image, isFresh: fresh.has(image), limit })),
        })),
      )),
    );
  }
  return found;
}

function ask(
  { service, placement, home, instanceTypes }: ImageSource,
  { clusterID, image, isFresh, limit }: Pick<Asked, 'clusterID' | 'limit'> & Wanted,
): Promise<Answer> {
  if (limit.signal.aborted) return limit.expired;
  const accountID = own(placement?.accounts, clusterID) ?? home.accountID;
  const asked = async (): Promise<Answer> => {
    const fresh = isFresh && announcesFeature(FEATURES.dockerOptions, { instanceTypes, clusterID });
    const options = { signal: limit.signal, ...(fresh && { fresh }) };
    try {
      return { digest: (await service.discovery.resolveImage?.({ clusterID, accountID }, image, options))?.digest };
    } catch (error) {
      if (!isServiceError(error)) throw error;
      return { fault: error.message };
    }
  };
  return Promise.race([asked(), limit.expired]);
}
