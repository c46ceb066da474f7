import { type Json, own } from '@sluice/core';
import { stepsAfter, stepsBefore } from '../facts/reachable-steps.ts';
import type { RunFacts } from '../facts/run-facts.ts';
import { stepIndex } from '../facts/step-context.ts';
import type { ApprovalChange } from '../schemas/open-approval.ts';

const MAX_TEXT = 200;

/**
 * What differs between two runs of a pipeline in what an approval is about: parameters, contents of volumes, the steps
 * before it with their results, and the steps that it releases. `before` was approved, `after` waits for the approval.
 */
export function compareBeforeApproval(before: RunFacts, after: RunFacts, step: string): readonly ApprovalChange[] {
  const [old, now] = [listAround(before, step), listAround(after, step)];
  const results = (facts: RunFacts, steps: readonly number[]) => new Map(steps.flatMap((one) => resultsOf(facts, one)));
  return [
    ...compare('param', jsonOf(before.plan.params), jsonOf(after.plan.params)),
    ...compareVolumes(before, after),
    ...compareSteps(keysOf(before, old.all), keysOf(after, now.all)),
    ...compare('result', results(before, old.first), results(after, now.first)),
  ];
}

/** The steps before a step, and those with itself and the steps after it. */
function listAround({ plan }: RunFacts, name: string) {
  const index = stepIndex(plan, name);
  if (index === undefined) return { first: [], all: [] };
  const first = stepsBefore(plan, index);
  return { first, all: [...first, index, ...stepsAfter(plan, index)] };
}

type Values = ReadonlyMap<string, string>;

/** The keys of steps, by step. */
function keysOf({ plan }: RunFacts, steps: readonly number[]): ReadonlyMap<string, Values> {
  return new Map(
    steps.map((index) => {
      const { name, ...keys } = plan.steps[index]!.step;
      const written = [...jsonOf(keys as unknown as Readonly<Record<string, Json>>)];
      return [name, new Map(written.map(([key, value]) => [`${name}.${key}`, value]))];
    }),
  );
}

function resultsOf(facts: RunFacts, index: number): [string, string][] {
  const { name } = facts.plan.steps[index]!.step;
  return (facts.cells[index] ?? []).flatMap(({ key }, cell): [string, string][] => {
    const place = key === '' ? name : `${name}/${key}`;
    const results = jsonOf(facts.known[index]?.[cell]?.results ?? {});
    return [...results].map(([result, value]) => [`${place}.${result}`, value]);
  });
}

function compareSteps(before: ReadonlyMap<string, Values>, after: ReadonlyMap<string, Values>): ApprovalChange[] {
  const names = [...new Set([...after.keys(), ...before.keys()])];
  return names.flatMap((name) => compareStep(name, before.get(name), after.get(name)));
}

/** A step that only one run has is one change. */
function compareStep(name: string, before: Values | undefined, after: Values | undefined): ApprovalChange[] {
  if (before !== undefined && after !== undefined) return compare('step', before, after);
  return [{ kind: 'step', name, ...(before === undefined ? { after: 'added' } : { before: 'removed' }) }];
}

function compare(kind: ApprovalChange['kind'], before: Values, after: Values): ApprovalChange[] {
  const names = [...new Set([...after.keys(), ...before.keys()])];
  return names.flatMap((name) => {
    const [old, now] = [before.get(name), after.get(name)];
    if (old === now) return [];
    const texts = {
      ...(old !== undefined && { before: shorten(old) }),
      ...(now !== undefined && { after: shorten(now) }),
    };
    return [{ kind, name, ...texts }];
  });
}

/** Only contents that are known in both runs can be said to differ. */
function compareVolumes(before: RunFacts, after: RunFacts): ApprovalChange[] {
  return Object.keys(after.volumes).flatMap((name) => {
    const [old, now] = [own(before.volumes, name)?.digest, own(after.volumes, name)?.digest];
    return old === undefined || now === undefined || old === now ? [] : [{ kind: 'volume' as const, name }];
  });
}

function jsonOf(values: Readonly<Record<string, Json | undefined>>): Values {
  return new Map(Object.entries(values).map(([name, value]) => [name, JSON.stringify(value) ?? 'null']));
}

function shorten(text: string): string {
  const points = [...text];
  return points.length <= MAX_TEXT ? text : `${points.slice(0, MAX_TEXT - 1).join('')}…`;
}
