import { own } from '@sluice/core';
import { hasSucceeded } from '../facts/has-succeeded.ts';
import { findOrigin } from '../facts/locate-output.ts';
import { readInputs } from '../facts/read-inputs.ts';
import { stepIndex } from '../facts/step-context.ts';
import type { FileUse } from '../schemas/file-history.ts';
import { type HistoryRun, originKey } from './file-source.ts';

/** The output whose uses are wanted. */
export interface UsedOutput {
  /** The cells that wrote it: `originKey` of each. */
  readonly origins: ReadonlySet<string>;
  readonly output: string;
  /** Inside the output; empty for all of it. */
  readonly path: string;
}

/** The cells of a run that have reused or mounted an output, and the directories to which it was copied. */
export function findFileUses(run: HistoryRun, wanted: UsedOutput): FileUse[] {
  const holders = findHolders(run, wanted);
  if (holders.size === 0) return [];
  return [...findReuses(run, holders), ...findMounts(run, wanted, holders), ...findCopies(run, wanted, holders)];
}

/** By step the cells of this run whose output it is. */
type Holders = ReadonlyMap<number, ReadonlySet<number>>;

function findHolders(run: HistoryRun, { origins, output }: UsedOutput): Holders {
  const { facts, scheduler, runId } = run;
  const source = { runId, plan: facts.plan, facts };
  const holders = new Map<number, ReadonlySet<number>>();
  for (const { index, step } of facts.plan.steps) {
    if (!Object.hasOwn(step.outputs, output)) continue;
    const cells = new Set<number>();
    for (let cell = 0; cell < (scheduler.cellCount(index) ?? 0); cell++)
      if (hasSucceeded(run, index, cell) && origins.has(originKey(findOrigin(source, index, cell)))) cells.add(cell);
    if (cells.size > 0) holders.set(index, cells);
  }
  return holders;
}

function findReuses(run: HistoryRun, holders: Holders): FileUse[] {
  return [...holders].flatMap(([step, cells]) =>
    [...cells].flatMap((cell): FileUse[] => {
      const known = run.facts.known[step]?.[cell];
      if (known?.cached === undefined) return [];
      const at = known.lookedUpAt;
      return [{ kind: 'reused', ...describePlace(run, step, cell), ...(at !== undefined && { at }) }];
    }),
  );
}

function findMounts(run: HistoryRun, { output, path }: UsedOutput, holders: Holders): FileUse[] {
  const { plan, known } = run.facts;
  const names = new Set([...holders.keys()].map((step) => plan.steps[step]!.step.name));
  const uses: FileUse[] = [];
  for (const { index, step } of plan.steps) {
    const reads = Object.values(step.inputs).some(({ from, or = [] }) =>
      [from, ...or].some((one) => 'step' in one && names.has(one.step) && one.output === output),
    );
    if (!reads) continue;
    for (const [cell, facts] of known[index]!.entries()) {
      const at = facts?.attempts.find(({ submittedAt }) => submittedAt !== undefined)?.submittedAt;
      if (at === undefined) continue;
      for (const { name, source } of readInputs({ ...run, plan }, index, cell)) {
        const held = source?.output === output ? holders.get(source.step) : undefined;
        if (!held || !overlaps(source?.path ?? '', path) || !source!.cells.some((one) => held.has(one))) continue;
        uses.push({ kind: 'mounted', ...describePlace(run, index, cell), name, at });
      }
    }
  }
  return uses;
}

function findCopies(run: HistoryRun, { output, path }: UsedOutput, holders: Holders): FileUse[] {
  const { plan, delivered, deliveredAt } = run.facts;
  return Object.entries(plan.pipeline.outputs).flatMap(([name, { from }]): FileUse[] => {
    const directory = own(delivered, name);
    const step = stepIndex(plan, from.step);
    const isIt = from.output === output && step !== undefined && holders.has(step) && overlaps(from.path ?? '', path);
    if (directory === undefined || !isIt) return [];
    const place = { runId: run.runId, pipeline: plan.pipeline.name, step: from.step, cell: '' };
    return [{ kind: 'published', ...place, name, directory, ...(deliveredAt !== undefined && { at: deliveredAt }) }];
  });
}

/** One path contains the other. */
function overlaps(a: string, b: string): boolean {
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  return short === '' || short === long || long.startsWith(`${short}/`);
}

function describePlace({ runId, facts }: HistoryRun, step: number, cell: number) {
  const { pipeline } = facts.plan;
  const key = facts.cells[step]?.[cell]?.key ?? '';
  return { runId, pipeline: pipeline.name, step: facts.plan.steps[step]!.step.name, cell: key };
}
