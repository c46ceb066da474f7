import { hash as digestOf } from 'node:crypto';
import {
  createFingerprint,
  type Fingerprint,
  fail,
  type Input,
  ok,
  type Result,
  resolveContainer,
  resolveText,
} from '@sluice/core';
import { isFannedOut } from '../data/create-mounts.ts';
import { type ContextSource, createRunContext, stepIndex } from '../run/step-context.ts';

/** Works out the identity of a cell's work. The error says what could not be evaluated. */
export function createCellFingerprinter(
  session: ContextSource,
): (step: number, cell: number) => Result<Fingerprint, string> {
  /** Digests of all cells of a step together; a step that is depended on does not change any more. */
  const together = new Map<number, string>();

  function digestInput(from: Input['from']): string {
    if ('volume' in from) {
      const place = session.facts.volumes[from.volume];
      // The content of a volume that others can write to is unknown: it counts by its name only.
      return `${place?.digest ?? `volume:${place?.volumeID}:${place?.path}`}/${from.path}`;
    }
    const step = stepIndex(session.plan, from.step)!;
    if (!isFannedOut(session, step)) return `${digestCell(session, step, 0)}/${from.output}`;
    let digest = together.get(step);
    if (digest === undefined) {
      const cells = session.facts.cells[step] ?? [];
      digest = hash(JSON.stringify(cells.map(({ key }, cell) => [key, digestCell(session, step, cell)])));
      together.set(step, digest);
    }
    return `${digest}/${from.output}`;
  }

  return (step, index) => {
    const cell = session.facts.cells[step]![index]!;
    const context = createRunContext(session, 1);
    const container = resolveContainer(session.plan, step, { cell, context });
    if (!container.ok) return container;
    const { cache } = session.plan.steps[step]!.step;
    const key = cache?.key === undefined ? undefined : resolveText(session.plan, cache.key, context);
    if (key && !key.ok) return fail(key.error);
    const inputs = Object.fromEntries(container.value.inputs.map(({ name, from }) => [name, digestInput(from)]));
    return ok(
      createFingerprint(container.value, {
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

/**
 * What a cell's outputs are: its fingerprint where it has one. A step without `cache` may yield something else each
 * time, so its outputs are known by the attempt that made them.
 */
export function digestCell(session: ContextSource, step: number, cell: number): string {
  const known = session.facts.known[step]?.[cell];
  const { name, cache } = session.plan.steps[step]!.step;
  const fingerprint = known?.cached?.fingerprint ?? (cache && known?.missed?.fingerprint);
  if (fingerprint !== undefined) return fingerprint;
  return `${session.runId}/${name}/${cell}/${known?.winner ?? session.scheduler.state(step, cell)}`;
}

function hash(text: string): string {
  return digestOf('sha256', text).slice(0, 40);
}
