import { type Plan, toleratedFailures } from '@sluice/core';
import type { RunReport } from '@sluice/run';
import type { JournalEvidence } from './journal-evidence.ts';
import { findLister, listOf, meantCells } from './listed-parts.ts';
import type { RunScript } from './scenario.ts';

type Claim = (holds: boolean, message: () => string) => void;

/** What the journal of a run with axes says of the ends of cells at this moment. */
interface Ends {
  isPublished(step: number, cell: number): boolean;
  isEnded(step: number, cell: number): boolean;
  hasFailed(step: number, cell: number): boolean;
}

function readEnds(plan: Plan, { published, ended, ids }: JournalEvidence): Ends {
  const attempts = (step: number, cell: number, known: ReadonlyMap<string, unknown>) =>
    [...known.keys()].filter((key) => key.startsWith(`${step}/${cell}/`));
  const isPublished = (step: number, cell: number) => {
    const { outputs, results } = plan.steps[step]!.step;
    const kind = Object.keys(outputs).length + Object.keys(results).length > 0 ? 'published' : 'succeeded';
    return published.has(`${kind}:${step}/${cell}`);
  };
  const hasFailed = (step: number, cell: number) => !isPublished(step, cell) && attempts(step, cell, ended).length > 0;
  const isBlocked = (step: number, cell: number): boolean => {
    const planned = plan.steps[step]!;
    const failed = (planned.cells ?? []).filter((_, other) => hasFailed(step, other)).length;
    if (failed > toleratedFailures(planned.step.continueOnError, planned.cells?.length ?? 0)) return true;
    return planned.dependencies.some(({ on }) => {
      const producer = plan.steps[on]!;
      const meant = meantCells(planned, planned.cells?.[cell]?.key ?? '', producer);
      if (!meant.cells.every((one) => isEnded(on, one.cell))) return false;
      const there = meant.cells.filter((one) => isPublished(on, one.cell)).length;
      const lost = meant.cells.filter((one) => hasFailed(on, one.cell)).length;
      return there === 0 || lost > toleratedFailures(producer.step.continueOnError, meant.cells.length);
    });
  };
  const isEnded = (step: number, cell: number): boolean => {
    if (isPublished(step, cell)) return true;
    const isStarted = attempts(step, cell, ids).length > 0;
    return hasFailed(step, cell) || (!isStarted && isBlocked(step, cell));
  };
  return { isPublished, isEnded, hasFailed };
}

/** Claims that a cell of a run with axes starts when all that it means has ended, and it has something to read (docs/axes.md). */
export function checkMeant(
  plan: Plan,
  { id, step, cell, on, now }: { id: string; step: number; cell: number; on: number; now: JournalEvidence },
  claim: Claim,
): void {
  const [reader, producer] = [plan.steps[step]!, plan.steps[on]!];
  const meant = meantCells(reader, reader.cells?.[cell]?.key ?? '', producer);
  const ends = readEnds(plan, now);
  const { name, continueOnError } = producer.step;
  for (const { key, cell: one } of meant.cells)
    claim(ends.isEnded(on, one), () => `${id} was started before the end of ${name}/${key}`);
  const there = meant.cells.filter((one) => ends.isPublished(on, one.cell));
  claim(there.length > 0, () => `${id} was started, although no cell of ${name} has left it anything`);
  const lost = meant.cells.filter((one) => ends.hasFailed(on, one.cell)).length;
  const allowed = meant.isSingle ? 0 : toleratedFailures(continueOnError, meant.cells.length);
  claim(lost <= allowed, () => `${id} was started, although ${lost} cells of ${name} have failed`);
}

/**
 * Claims that a report has the cells of all lists that are known, each in its place, and one for every other list; and that no
 * cell has succeeded with a wrong list.
 */
export function checkParts(
  plan: Plan,
  { report: { steps }, script }: { readonly report: RunReport; readonly script: RunScript },
  claim: Claim,
): void {
  const lister = findLister(script.steps)!;
  const listing = steps.find(({ step }) => step === lister.name)!.cells;
  const wanted = listing.flatMap(({ cell, status }) => {
    const list = listOf(lister, cell);
    const isListed = status === 'succeeded';
    claim(!isListed || list !== 'broken', () => `${lister.name}/${cell} has succeeded with a wrong list`);
    const keys = isListed && list !== 'broken' ? list : ['*'];
    return keys.map((key) => (cell === '' ? key : `${cell},${key}`));
  });
  for (const { index, step } of plan.steps) {
    if (!step.each?.includes('part')) continue;
    const found = steps[index]!.cells.map(({ cell }) => cell).join(' ');
    claim(found === wanted.join(' '), () => `${step.name} has the cells ${found}, not ${wanted.join(' ')}`);
  }
}
