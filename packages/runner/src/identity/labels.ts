import type { Container } from '@sluice/client';
import type { Pipeline } from '@sluice/core';
import type { AttemptName } from './container-id.ts';

/** Tags of our containers: the pipeline's own, and what a run can be rebuilt from when its journal is lost. */
export function createLabels(
  name: AttemptName,
  made: { epoch: number; spec: string; of: Pick<Pipeline, 'labels'> },
): Record<string, string> {
  return {
    ...made.of.labels,
    'sluice-run': name.runId,
    'sluice-step': name.step,
    'sluice-cell': name.cell,
    'sluice-attempt': String(name.attempt),
    'sluice-epoch': String(made.epoch),
    'sluice-spec': made.spec,
  };
}

/** Whether a container that answers under our ID was made for this attempt, by this or an earlier runner of the run. */
export function carriesLabels(container: Container, name: AttemptName): boolean {
  const labels = container.labels ?? {};
  return (
    labels['sluice-run'] === name.runId &&
    labels['sluice-step'] === name.step &&
    cellOf(labels) === name.cell &&
    labels['sluice-attempt'] === String(name.attempt)
  );
}

/** What our labels say of a container; undefined where they are not ours. */
export function readLabels(
  labels: Readonly<Record<string, string>>,
): { readonly name: AttemptName; readonly epoch: number } | undefined {
  const { 'sluice-run': runId, 'sluice-step': step } = labels;
  const [attempt, epoch] = [Number(labels['sluice-attempt']), Number(labels['sluice-epoch'])];
  if (runId === undefined || step === undefined) return undefined;
  if (!Number.isSafeInteger(attempt) || !Number.isSafeInteger(epoch)) return undefined;
  return { name: { runId, step, cell: cellOf(labels), attempt }, epoch };
}

/** Empty for a plain step, and some services leave empty labels out. */
function cellOf(labels: Readonly<Record<string, string>>): string {
  return labels['sluice-cell'] ?? '';
}
