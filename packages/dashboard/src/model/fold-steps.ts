import type { RunDetails } from '@sluice/host';
import type { ChangeHistory } from './change-history.ts';
import type { RunModel } from './run-model.ts';
import { STATUSES } from './statuses.ts';

type PlanSteps = RunDetails['plan']['steps'];

/** A run's steps as they are shown: each folded group is one of them, in the place of its first step. */
export interface FoldedSteps {
  readonly steps: PlanSteps;
  /** For each shown step those of the plan: one, or those of a folded group. */
  readonly members: readonly (readonly number[])[];
  /** For each step of the plan the shown one. */
  readonly shownAs: Int32Array;
}

/** The steps of each group, by its name. */
export function membersOf(steps: readonly { readonly group?: string }[]): Map<string, readonly number[]> {
  const groups = new Map<string, number[]>();
  steps.forEach(({ group }, step) => {
    if (group === undefined) return;
    const known = groups.get(group);
    if (known) known.push(step);
    else groups.set(group, [step]);
  });
  return groups;
}

/** Those of each group with several. */
export function groupsOf(steps: PlanSteps): ReadonlyMap<string, readonly number[]> {
  const groups = membersOf(steps);
  for (const [group, { length }] of groups) if (length < 2) groups.delete(group);
  return groups;
}

/** Replaces each group whose name is in `folded` by one step of its name. */
export function foldSteps(steps: PlanSteps, folded: ReadonlySet<string>): FoldedSteps {
  if (folded.size === 0)
    return { steps, members: steps.map((_, step) => [step]), shownAs: Int32Array.from(steps, (_, step) => step) };
  const groups = groupsOf(steps);
  const members: (readonly number[])[] = [];
  const shownAs = new Int32Array(steps.length);
  steps.forEach(({ group }, step) => {
    const all = (group !== undefined && folded.has(group) && groups.get(group)) || [step];
    shownAs[step] = all[0] === step ? members.length : shownAs[all[0]!]!;
    if (all[0] === step) members.push(all);
  });
  const shown = members.map((all, index) => {
    const first = steps[all[0]!]!;
    const sources = new Set(all.flatMap((step) => steps[step]!.dependencies.map((source) => shownAs[source]!)));
    const dependencies = [...sources].filter((source) => source !== index);
    if (all.length === 1) return { ...first, dependencies };
    return {
      ...{ step: first.group!, kind: first.kind, level: 0, final: first.final },
      dependencies,
      cells: all.length,
    };
  });
  return { steps: withLevels(shown), members, shownAs };
}

/** Gives each step its distance from the start, those of `finally` after all others. */
function withLevels(steps: PlanSteps): PlanSteps {
  const levels = new Int32Array(steps.length);
  const followers = steps.map((): number[] => []);
  steps.forEach(({ dependencies }, step) => {
    for (const source of dependencies) followers[source]!.push(step);
  });
  let first = 0;
  for (const final of [false, true]) {
    const isHere = (step: number) => steps[step]!.final === final;
    const open = steps.map(({ dependencies }) => dependencies.filter(isHere).length);
    const ready = [...steps.keys()].filter((step) => isHere(step) && open[step] === 0);
    for (const step of steps.keys()) if (isHere(step)) levels[step] = first;
    for (const step of ready) {
      for (const next of followers[step]!.filter(isHere)) {
        levels[next] = Math.max(levels[next]!, levels[step]! + 1);
        open[next]! -= 1;
        if (open[next] === 0) ready.push(next);
      }
    }
    first = levels.reduce((most, level) => Math.max(most, level + 1), 0);
  }
  return steps.map((step, index) => ({ ...step, level: levels[index]! }));
}

/** The states of the shown steps. A folded group has the cells of all of its steps. */
export function foldModel(model: RunModel, { members }: FoldedSteps): RunModel {
  const codes = STATUSES.length;
  const counts = new Uint32Array(members.length * codes);
  const cells = members.map((all, index) => {
    for (const step of all)
      for (let code = 0; code < codes; code++) counts[index * codes + code]! += model.counts[step * codes + code]!;
    return all.length === 1 ? model.cells[all[0]!]! : joinCodes(all.map((step) => model.cells[step]!));
  });
  return { position: model.position, version: model.version, cells, counts };
}

function joinCodes(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let place = 0;
  for (const part of parts) {
    joined.set(part, place);
    place += part.length;
  }
  return joined;
}

/** The history of the shown steps; that of a folded group has only when its steps ran, and their retries. */
export function foldHistory(history: ChangeHistory, { members }: FoldedSteps): ChangeHistory {
  const isOne = (all: readonly number[]) => all.length === 1;
  return {
    ...history,
    last: members.map((all) => (isOne(all) ? history.last[all[0]!]! : [])),
    retries: members.map((all) => all.flatMap((step) => history.retries[step]!)),
    spans: members.map((all) => {
      const begun = all.flatMap((step) => history.spans[step]!.begunAt ?? []);
      const ended = all.flatMap((step) => history.spans[step]!.endedAt ?? []);
      return {
        begunAt: begun.length === 0 ? undefined : Math.min(...begun),
        endedAt: ended.length === 0 ? undefined : Math.max(...ended),
      };
    }),
  };
}
