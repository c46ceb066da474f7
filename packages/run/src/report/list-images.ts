import { own, type Plan, type RunContext, resolvePlannedText } from '@sluice/core';
import { evaluateForView } from '../facts/evaluate-for-view.ts';
import { firstClusters } from '../facts/first-cluster.ts';
import type { RunFacts } from '../facts/run-facts.ts';
import { describeRun } from '../facts/step-context.ts';
import type { ImageDigests } from '../records/image-digests.ts';
import type { RunPlacement } from '../records/placement.ts';
import type { ImageUse } from '../schemas/image.ts';

interface ImagesSource {
  readonly plan: Plan;
  readonly home: { readonly clusterID: string };
  readonly placement?: RunPlacement | undefined;
  readonly images: ImageDigests;
  readonly run: RunContext['run'];
}

/** The images of a plan in the order of their first steps; one entry for each image and digest. */
export function listImages(source: ImagesSource): readonly ImageUse[] {
  return evaluateForView(source.plan, () => evaluateImages(source));
}

function evaluateImages(source: ImagesSource): readonly ImageUse[] {
  const { plan, images, run } = source;
  const found = new Map<string, ImageUse & { readonly steps: string[] }>();
  for (const { step, index } of plan.steps) {
    if (step.image === undefined) continue;
    const resolved = resolvePlannedText(plan, step.image, { run });
    const image = resolved.ok ? resolved.value : step.image;
    // An expression may evaluate to an empty string: the step has no image.
    if (image === '') continue;
    for (const digest of new Set(firstClusters(source, index).map((cluster) => own(own(images, cluster), image)))) {
      const key = JSON.stringify([image, digest]);
      const known = found.get(key);
      if (known) known.steps.push(step.name);
      else found.set(key, { image, ...(digest !== undefined && { digest }), steps: [step.name] });
    }
  }
  return [...found.values()];
}

/** The images of a run, with the digests when it began. */
export function listRunImages({ header, plan }: RunFacts): readonly ImageUse[] {
  if (header === undefined) return [];
  const { clusterID, placement, images = {}, runId, plannedTime } = header;
  return listImages({ plan, home: { clusterID }, placement, images, run: describeRun({ runId, plan, plannedTime }) });
}

/** The image in words, with the consequence of a changed tag. */
export function describeImage({ image, digest }: Omit<ImageUse, 'steps'>): string {
  return digest === undefined
    ? `${image}, by its name: its digest is not known, so reuse does not notice when the name means another image`
    : `${image}, by its digest ${digest}`;
}
