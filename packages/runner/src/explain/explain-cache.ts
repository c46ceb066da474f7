import { explainDifference, type Step } from '@sluice/core';
import type { Disk } from '../journal/disk.ts';
import type { CacheMiss } from '../journal/journal-record.ts';
import { type ReplayedRun, replayFromHome } from '../run/read-run.ts';
import type { CellFacts } from '../run/run-facts.ts';
import { stepIndex } from '../run/step-context.ts';
import type { CacheExplanation, InputDifference } from './step-explanation.ts';

/** Why a cell's work was, or was not, taken from an earlier run. Reads the journal of the run that it is compared with. */
export async function explainCache(
  cell: { readonly step: Step; readonly key: string; readonly known: CellFacts | undefined },
  { disk, home }: { readonly disk: Disk; readonly home: string },
): Promise<CacheExplanation> {
  const { step, key, known } = cell;
  if (known?.cached) {
    const { fingerprint, runId } = known.cached;
    return { kind: 'hit', fingerprint, runId, step: known.cached.step, cell: known.cached.cell };
  }
  if (!step.cache) return { kind: 'off' };
  if (!known?.missed) return { kind: 'unasked' };
  const { fingerprint, reason, latest } = known.missed;
  const missed = { kind: 'missed', fingerprint, reason } as const;
  if (latest === undefined) return missed;
  const earlier = await replayFromHome(disk, home, latest);
  if (!earlier.ok) return { ...missed, problem: `it cannot be compared with run ${latest}: ${earlier.error.message}` };
  const before = findMiss(earlier.value, { step: step.name, key });
  if (!before) return { ...missed, problem: `run ${latest} does not say what its work was` };
  const differences = explainDifference(toFingerprint(before), toFingerprint(known.missed));
  return { ...missed, nearest: { runId: latest, differences: differences.map((one) => addSource(one, step)) } };
}

/** What was looked for before the cell ran there: its fingerprint. */
function findMiss(run: ReplayedRun, { step, key }: { step: string; key: string }): CacheMiss | undefined {
  const index = stepIndex(run.facts.plan, step);
  if (index === undefined) return undefined;
  const cell = run.facts.cells[index]?.findIndex((one) => one.key === key) ?? -1;
  return run.facts.known[index]?.[cell]?.missed;
}

function toFingerprint({ fingerprint, components }: CacheMiss) {
  return { digest: fingerprint, components };
}

function addSource(difference: Omit<InputDifference, 'from'>, step: Step): InputDifference {
  const [kind, name, rest] = difference.name.split('.');
  const input = kind === 'inputs' && rest === undefined ? step.inputs[name ?? ''] : undefined;
  return input && 'step' in input.from ? { ...difference, from: input.from.step } : difference;
}
