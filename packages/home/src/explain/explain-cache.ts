import { explainDifference, type Fingerprint, own, type Result, type Step } from '@sluice/core';
import {
  type CacheExplanation,
  type CacheMiss,
  type CellFacts,
  type InputDifference,
  type ReplayedRun,
  type RunError,
  stepIndex,
} from '@sluice/run';
import { createIdentities } from '../reuse/fingerprint-cell.ts';
import { createRerunCheck } from '../reuse/rerun-check.ts';

/** Why a cell was, or was not, reused from an earlier run. `read` reads the run with which it is compared. */
export async function explainCache(
  run: ReplayedRun,
  cell: { readonly step: Step; readonly key: string; readonly known: CellFacts | undefined },
  read: (runId: string) => Promise<Result<ReplayedRun, RunError>>,
): Promise<CacheExplanation> {
  const { step, key, known } = cell;
  if (known?.cached) {
    const { fingerprint, runId } = known.cached;
    return { kind: 'hit', fingerprint, runId, step: known.cached.step, cell: known.cached.cell };
  }
  if (!known?.missed) return { kind: step.cache ? 'noLookup' : 'off' };
  const { fingerprint, reason: cause, latest } = known.missed;
  const missed = {
    kind: 'missed',
    fingerprint,
    cause,
    ...(cause === 'rerun' && explainRerun(run, step, key)),
  } as const;
  if (latest === undefined) return missed;
  const earlier = await read(latest);
  if (!earlier.ok) return { ...missed, problem: `it cannot be compared with run ${latest}: ${earlier.error.message}` };
  const before = findFingerprint(earlier.value, { step: step.name, key });
  if (!before) return { ...missed, problem: `the fingerprint of run ${latest} is unknown` };
  const differences = explainDifference(before, toFingerprint(known.missed));
  return { ...missed, nearest: { runId: latest, differences: differences.map((one) => addSource(one, step)) } };
}

function explainRerun(run: ReplayedRun, { name }: Step, key: string): { readonly after?: string } {
  const { plan, cells } = run.facts;
  const source = { ...run, plan };
  const step = stepIndex(plan, name)!;
  const cell = cells[step]?.findIndex((one) => one.key === key);
  const rerun = createRerunCheck(source, createIdentities(source).lineage)(step, cell);
  return rerun?.kind === 'after' ? { after: plan.steps[rerun.step]!.step.name } : {};
}

/** The fingerprint of the cell in that run: recorded by its cache lookup, or computed if there was no lookup. */
function findFingerprint(run: ReplayedRun, { step, key }: { step: string; key: string }): Fingerprint | undefined {
  const index = stepIndex(run.facts.plan, step);
  if (index === undefined) return undefined;
  const cell = run.facts.cells[index]?.findIndex((one) => one.key === key) ?? -1;
  if (cell < 0) return undefined;
  const missed = run.facts.known[index]?.[cell]?.missed;
  if (missed) return toFingerprint(missed);
  const made = createIdentities({ ...run, plan: run.facts.plan }).fingerprint(index, cell);
  return made.ok ? made.value : undefined;
}

function toFingerprint({ fingerprint, components }: CacheMiss) {
  return { digest: fingerprint, components };
}

function addSource(difference: Omit<InputDifference, 'from'>, step: Step): InputDifference {
  const [kind, name, rest] = difference.name.split('.');
  if (kind === 'after' && name !== undefined && name !== '*') return { ...difference, from: name };
  const input = kind === 'inputs' && rest === undefined ? own(step.inputs, name ?? '') : undefined;
  return input && 'step' in input.from ? { ...difference, from: input.from.step } : difference;
}
