import { type Container, QUEUE_LABEL } from '@sluice/client';
import type { Pipeline } from '@sluice/core';
import type { AttemptName } from '@sluice/run';

/** Labels of our containers: the pipeline's own, and those from which a run is restored if its journal is lost. */
export function createLabels(
  name: AttemptName,
  made: { epoch: number; spec: string; of: Pick<Pipeline, 'labels'> },
): Record<string, string> {
  // Not a literal that begins with the others: see `omitUnknown`.
  return Object.assign({}, made.of.labels, {
    [QUEUE_LABEL]: name.runId,
    'sluice-step': name.step,
    'sluice-cell': name.cell,
    'sluice-attempt': String(name.attempt),
    'sluice-epoch': String(made.epoch),
    'sluice-spec': made.spec,
  });
}

/** Whether a container under our ID was created for this attempt, by this or an earlier runner of the run. */
export function carriesLabels(container: Container, name: AttemptName): boolean {
  const labels = container.labels ?? {};
  return (
    labels[QUEUE_LABEL] === name.runId &&
    labels['sluice-step'] === name.step &&
    cellOf(labels) === name.cell &&
    labels['sluice-attempt'] === String(name.attempt)
  );
}

/** The attempt that our labels name; undefined if they are not ours. */
export function readLabels(
  labels: Readonly<Record<string, string>>,
): { readonly name: AttemptName; readonly epoch: number } | undefined {
  const { [QUEUE_LABEL]: runId, 'sluice-step': step } = labels;
  const [attempt, epoch] = [Number(labels['sluice-attempt']), Number(labels['sluice-epoch'])];
  if (runId === undefined || step === undefined) return undefined;
  if (!Number.isSafeInteger(attempt) || !Number.isSafeInteger(epoch)) return undefined;
  return { name: { runId, step, cell: cellOf(labels), attempt }, epoch };
}

/** Empty for a plain step; some services omit empty labels. */
function cellOf(labels: Readonly<Record<string, string>>): string {
  return labels['sluice-cell'] ?? '';
}
