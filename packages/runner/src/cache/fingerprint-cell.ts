import { hash as digestOf } from 'node:crypto';
import {
  createFingerprint,
  type Fingerprint,
  fail,
  type Input,
  ok,
  own,
  type Result,
  resolveContainer,
  resolveText,
} from '@sluice/core';
import { firstCluster } from '../record/first-cluster.ts';
import { isFannedOut } from '../record/locate-output.ts';
import { type ContextSource, createRunContext, stepIndex } from '../record/step-context.ts';

/** Creates a function that computes a cell's fingerprint. Its error says which expression could not be evaluated. */
export function createCellFingerprinter(
  session: ContextSource,
): (step: number, cell: number) => Result<Fingerprint, string> {
  /** Digests of all cells of a step together. A step whose dependents can start does not change any more. */
  const together = new Map<number, string>();

  function digestInput(from: Input['from']): string {
    if ('volume' in from) {
      const place = own(session.facts.volumes, from.volume);
      // The content of a volume that others can write to is unknown: only its name is part of the fingerprint.
      return `${place?.digest ?? `volume:${place?.volumeID}:${place?.path}`}/${from.path}`;
    }
    const step = stepIndex(session.plan, from.step)!;
    if (!isFannedOut(session, step)) {
      const path = from.path === undefined ? '' : `/${from.path}`;
      return `${digestCell(session, step, 0)}/${from.output}${path}`;
    }
    let digest = together.get(step);
    if (digest === undefined) {
      const cells = session.facts.cells[step] ?? [];
      const parts = cells.map(({ key, matrix, item }, cell) => [key, matrix, item, digestCell(session, step, cell)]);
      digest = hash(JSON.stringify(parts));
      together.set(step, digest);
    }
    return `${digest}/${from.output}`;
  }

  return (step, index) => {
    const cell = session.facts.cells[step]![index]!;
    const context = createRunContext(session, 1);
    const container = resolveContainer(session.plan, step, { cell, context });
    if (!container.ok) return container;
    const { name, cache } = session.plan.steps[step]!.step;
    const key = cache?.key === undefined ? undefined : resolveText(session.plan, cache.key, context);
    if (key && !key.ok) return fail(key.error);
    const inputs = Object.fromEntries(container.value.inputs.map(({ name, from }) => [name, digestInput(from)]));
    const image = digestImage(session, step, container.value.image);
    return ok(
      createFingerprint(container.value, {
        ...(image !== undefined && { image }),
        pipeline: session.plan.pipeline.name,
        step: name,
        inputs,
        matrix: cell.matrix,
        ...(cell.item !== undefined && { item: cell.item }),
        ...(key && { key: key.value }),
        ignore: cache?.ignore ?? [],
        hash,
      }),
    );
  };
}

/** The digest of the image when the run began; undefined if only its name is known. */
function digestImage({ facts }: ContextSource, step: number, image: string | undefined): string | undefined {
  const { images, placement, clusterID } = facts.header ?? {};
  if (image === undefined || images === undefined || clusterID === undefined) return undefined;
  return own(own(images, firstCluster({ placement, home: { clusterID } }, step)), image);
}

/**
 * The identity of a cell's outputs for the fingerprints of its dependents: equal digests mean equal contents. It is the
 * fingerprint only for the first success with this fingerprint. It is the attempt for a failed cell, whose outputs may be
 * incomplete, for a step without `cache`, and for a repeated execution, since these may yield different outputs each time.
 */
export function digestCell(session: ContextSource, step: number, cell: number): string {
  const known = session.facts.known[step]?.[cell];
  const state = session.scheduler.state(step, cell);
  if (state === 'cached' && known?.cached) return known.cached.fingerprint;
  // A skipped cell has no outputs, for whatever reason it was skipped.
  if (state === 'skipped') return 'skipped';
  const { name, cache } = session.plan.steps[step]!.step;
  const missed = cache && state === 'succeeded' ? known?.missed : undefined;
  if (missed?.reason === 'unknown') return missed.fingerprint;
  const attempt = `${session.runId}/${name}/${cell}/${known?.winner ?? known?.attempts.at(-1)?.attempt ?? 0}`;
  return state === 'succeeded' ? attempt : `${attempt}/${state}`;
}

function hash(text: string): string {
  return digestOf('sha256', text).slice(0, 40);
}
