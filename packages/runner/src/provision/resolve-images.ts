import { type ContainerService, FEATURES, type InstanceType, isServiceError } from '@sluice/client';
import { own, type Plan, type RunContext, resolvePlannedText } from '@sluice/core';
import type { ImageDigests } from '../journal/image-digests.ts';
import type { RunPlacement } from '../journal/placement.ts';
import { announcesFeature } from '../placement/announces-feature.ts';
import { firstCluster } from '../record/first-cluster.ts';

/** What the images of a plan are resolved with. */
export interface ImageSource {
  readonly plan: Plan;
  readonly service: ContainerService;
  readonly home: { readonly clusterID: string; readonly accountID: string };
  readonly placement: RunPlacement | undefined;
  readonly instanceTypes: readonly InstanceType[];
  readonly run: RunContext['run'];
}

/**
 * Requests the digest of each image once from the first cluster of each step that uses it, if the cluster announces
 * digests. Images that are known only during the run, or that the service cannot resolve, are omitted; fingerprints
 * contain their names instead.
 */
export async function resolveImages(source: ImageSource): Promise<ImageDigests> {
  const wanted = new Map<string, Set<string>>();
  for (const { step, index } of source.plan.steps) {
    const image = step.image === undefined ? undefined : nameOf(source, step.image);
    const clusterID = firstCluster(source, index);
    if (!image || !announcesFeature(FEATURES.imageDigests, { ...source, clusterID })) continue;
    wanted.set(clusterID, (wanted.get(clusterID) ?? new Set()).add(image));
  }
  const clusters = [...wanted].map(async ([clusterID, images]) => {
    const found = await Promise.all(
      [...images].map(async (image) => [image, await ask(source, clusterID, image)] as const),
    );
    return [clusterID, Object.fromEntries(found.filter(([, digest]) => digest !== undefined))] as const;
  });
  return Object.fromEntries(await Promise.all(clusters)) as ImageDigests;
}

function nameOf({ plan, run }: ImageSource, template: string): string | undefined {
  const image = resolvePlannedText(plan, template, { run });
  return image.ok ? image.value : undefined;
}

async function ask(
  { service, placement, home }: ImageSource,
  clusterID: string,
  image: string,
): Promise<string | undefined> {
  const accountID = own(placement?.accounts, clusterID) ?? home.accountID;
  try {
    return (await service.discovery.resolveImage?.({ clusterID, accountID }, image))?.digest;
  } catch (error) {
    if (!isServiceError(error)) throw error;
    return undefined;
  }
}
