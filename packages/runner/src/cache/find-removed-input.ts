import { own } from '@sluice/core';
import { type ReadInput, readInputs, stepIndex } from '@sluice/run';
import type { RunSession } from '../session/run-session.ts';
import type { TemporaryCheck } from './find-restored.ts';

/**
 * A message if an attempt would mount a removed temporary output of a reused cell. The prediction before the run prevents
 * that; but a success may have disappeared since, so that a cell runs that was to be reused. Returns undefined if the attempt
 * mounts no such output.
 */
export function findRemovedInput(
  session: RunSession,
  { step, cell }: { readonly step: number; readonly cell: number },
  hasTemporary: TemporaryCheck,
): Promise<string | undefined> | undefined {
  const { plan } = session;
  const mayRead = Object.values(plan.steps[step]!.step.inputs).some(({ from, or = [] }) =>
    [from, ...or].some((one) => 'step' in one && isTemporary(session, one)),
  );
  if (!mayRead) return undefined;
  const reads = readInputs(session, step, cell).filter(
    ({ input: { from } }) => 'step' in from && isTemporary(session, from),
  );
  return findFirst(session, reads, hasTemporary);
}

function isTemporary(
  { plan }: RunSession,
  { step, output }: { readonly step: string; readonly output: string },
): boolean {
  const index = stepIndex(plan, step);
  return index !== undefined && own(plan.steps[index]!.step.outputs, output)?.temporary === true;
}

async function findFirst(
  session: RunSession,
  reads: readonly ReadInput[],
  hasTemporary: TemporaryCheck,
): Promise<string | undefined> {
  const { plan, facts } = session;
  for (const { name, source } of reads) {
    const { step, output, cells } = source!;
    for (const cell of cells) {
      const cached = facts.known[step]?.[cell]?.cached;
      if (cached === undefined || (await hasTemporary(step, cached, output))) continue;
      const key = facts.cells[step]?.[cell]?.key ?? '';
      const cellName = key === '' ? plan.steps[step]!.step.name : `${plan.steps[step]!.step.name}/${key}`;
      return `could not mount input ${name}: output ${output} of ${cellName} was removed as temporary, and the run had not expected that this cell would run; start the run again, which then computes ${cellName} again`;
    }
  }
  return undefined;
}
