import { type Axis, type Cell, createPlan, type Plan, type PlannedStep, type Step } from '@sluice/core';
import type { JournalRecord } from '@sluice/run';
import type { Random } from '../../../run/test/random.ts';
import type { PartList, StepScript } from './step-script.ts';

const SAMPLES = ['a', 'b', 'c'];
const PARTS = ['p0', 'p1', 'p2'];

/** The first step lists parts, of each sample or once; most others get a cell for each part, or for each sample. */
export function addLists(
  steps: readonly StepScript[],
  { random, mayFail }: { readonly random: Random; readonly mayFail: boolean },
): StepScript[] {
  const samples = random.chance(0.75) ? 1 + random.below(SAMPLES.length) : 0;
  const lists = Array.from({ length: Math.max(1, samples) }, () => drawList(random, mayFail));
  return steps.map(({ foreach, ...step }, index) => {
    if (index === 0) return { ...step, cells: 1, lists, ...(samples > 0 && { each: 'sample' as const }) };
    const each = random.pick(['part', 'part', 'part', samples > 0 ? 'sample' : 'part', undefined] as const);
    if (each === undefined) return { ...step, ...(foreach && { foreach }) };
    const fails = SAMPLES.flatMap((sample) => PARTS.map((part) => (samples > 0 ? `${sample},${part}` : part)));
    return {
      ...{ ...step, each, cells: 1 },
      ...(mayFail && each === 'part' && random.chance(0.3) && { fails: fails.filter(() => random.chance(0.2)) }),
      ...(random.chance(0.3) && { continueOnError: random.pick([true, 1, '34%', '50%']) }),
    };
  });
}

function drawList(random: Random, mayFail: boolean): PartList {
  if (mayFail && random.chance(0.1)) return 'broken';
  return [...PARTS, ...PARTS].slice(random.below(3)).slice(0, random.below(4));
}

/** The step of a run that lists parts; undefined for a run without axes. */
export function findLister(steps: readonly StepScript[]): StepScript | undefined {
  return steps.find(({ lists }) => lists !== undefined);
}

/** What a cell of the step lists. */
export function listOf({ lists = [], each }: StepScript, cell: string): PartList {
  return lists[each === undefined ? 0 : SAMPLES.indexOf(cell)]!;
}

/** What a cell of the step writes as its result. */
export function listText(script: StepScript, cell: string): string {
  const list = listOf(script, cell);
  return JSON.stringify(list === 'broken' ? ['p0', 'p0'] : list);
}

/** What is added to a step with axes, or to the one that lists parts. */
export function describeAxes({ each, lists }: StepScript): Partial<Step> {
  return {
    ...(each && { each: [each] }),
    ...(lists && { results: { parts: { type: 'array' as const, file: 'parts' } } }),
  };
}

/** The plan of a run whose steps have axes. */
export function planAxes({ pipeline }: Plan, { name, each, lists = [] }: StepScript): Plan {
  const axes: Record<string, Axis> = { part: { items: `\${{ steps.${name}.results.parts }}`, of: {} } };
  if (each !== undefined) axes.sample = { items: SAMPLES.slice(0, lists.length), of: {} };
  const plan = createPlan({ ...pipeline, axes });
  if (!plan.ok) throw new Error(JSON.stringify(plan.error));
  return plan.value;
}

/** The plan with the cell of each part. Where there is no list, there is no cell. */
export function addParts(plan: Plan, { each, lists = [] }: StepScript): Plan {
  const keys = lists.flatMap((list, index) => {
    const parts = list === 'broken' ? [] : list;
    return parts.map((part) => (each === undefined ? part : `${SAMPLES[index]},${part}`));
  });
  const cells = keys.map((key): Cell => ({ key, matrix: {} }));
  const steps = plan.steps.map((planned) => (hasParts(planned) ? { ...planned, cells } : planned));
  return { ...plan, steps };
}

function hasParts({ step }: PlannedStep): boolean {
  return step.each?.includes('part') === true;
}

/** A cell, by its number in the plan with all cells, and by its name in the directory that its reader finds. */
export interface MeantCell {
  readonly key: string;
  readonly cell: number;
  readonly name: string;
}

/** The cells of a step that a cell of another one means (docs/axes.md), and whether they are always one. */
export function meantCells(
  { step: { each: readerEach = [] } }: PlannedStep,
  readerKey: string,
  { step, cells = [] }: PlannedStep,
): { readonly isSingle: boolean; readonly cells: readonly MeantCell[] } {
  if (step.each === undefined) {
    const isSingle = step.matrix === undefined && step.foreach === undefined;
    return { isSingle, cells: cells.map(({ key }, cell) => ({ key, cell, name: key })) };
  }
  // The key of a part begins with that of its sample, where there are samples: common axes are a common beginning.
  const mine = readerEach.length === 0 ? [] : readerKey.split(',');
  const found = cells.flatMap(({ key }, cell): MeantCell[] => {
    const keys = key.split(',');
    const common = Math.min(mine.length, keys.length);
    const isMeant = keys.slice(0, common).every((one, place) => one === mine[place]);
    return isMeant ? [{ key, cell, name: keys.slice(common).join('/') }] : [];
  });
  const isSingle = readerEach.length > 0 && (!step.each.includes('part') || readerEach.includes('part'));
  return { isSingle, cells: found };
}

/** The numbers that a journal gives to cells, which depend on the order of its lists, as numbers of the plan with all cells. */
export function createCellNumbers(undecided: Plan, decided: Plan) {
  const keys = undecided.steps.map(({ cells = [] }) => cells.map(({ key }) => key));
  const known = new Set<number>();
  return {
    /** Called with each record, in order. */
    read(record: JournalRecord): void {
      if (record.kind !== 'event' || record.facts?.lists === undefined) return;
      const { event } = record;
      if ((event.type !== 'published' && event.type !== 'cacheHit') || known.has(event.cell)) return;
      known.add(event.cell);
      const [first, ...others] = (record.facts.lists.part ?? []).map(({ key }) => key);
      const place = [keys[event.step]![event.cell], '*'].filter(Boolean).join(',');
      for (const planned of undecided.steps.filter(hasParts)) {
        const names = keys[planned.index]!;
        const number = names.indexOf(place);
        if (number < 0 || first === undefined) continue;
        names[number] = place.replace('*', first);
        names.push(...others.map((key) => place.replace('*', key)));
      }
    },
    /** Negative for a cell that stands for a list. */
    of(step: number, cell: number): number {
      if (!hasParts(undecided.steps[step]!)) return cell;
      return decided.steps[step]!.cells!.findIndex(({ key }) => key === keys[step]![cell]);
    },
  };
}
