import { type CellValues, lateKeys, type Plan, type PlannedStep, planLevels, valuesOfCell } from '@sluice/core';
import {
  choiceOf,
  choicesOf,
  describeValues,
  type ImageUse,
  type PlacementChoice,
  type RunPlacement,
} from '@sluice/run';
import type { ReusePreview } from '@sluice/runner';
import { countCells } from './count-cells.ts';
import { countLists } from './count-lists.ts';
import type { JsonValue } from './json-values.ts';

type PlanValue = JsonValue<'plan'>;

/** What is known about a run beside its plan. */
interface PlanDetails {
  /** As the user named it. */
  readonly file: string;
  /** The cluster of the run. */
  readonly home: string;
  /** Undefined if no cluster fits a step. */
  readonly placement: RunPlacement | undefined;
  /** The run to reuse and a preview for each step. */
  readonly preview: { readonly runId: string; readonly steps: readonly ReusePreview[] } | undefined;
  readonly images: readonly ImageUse[] | undefined;
}

/** A plan as the value that `sluice plan --json` prints. */
export function describePlan(plan: Plan, { file, home, placement, preview, images }: PlanDetails): PlanValue {
  const levels = planLevels(plan);
  return {
    file,
    pipeline: plan.pipeline.name,
    params: plan.params,
    clusterId: home,
    steps: plan.steps.map((planned) => ({
      ...describeStep(planned, { plan, level: levels[planned.index] ?? 0, placement }),
      ...(preview && { reuse: describeReuse(preview.steps[planned.index]!) }),
    })),
    ...(images && { images }),
    ...(preview && { reuseFrom: preview.runId }),
  };
}

function describeStep(
  planned: PlannedStep,
  { plan, level, placement }: { plan: Plan; level: number; placement: RunPlacement | undefined },
) {
  const { index: number, step, final, dependencies, cells } = planned;
  const cellCount = countCells(plan, planned);
  const lists = countLists(plan, planned);
  const late = lateKeys(plan, number);
  const choices = placement ? choicesOf(placement, number) : [];
  return {
    step: step.name,
    final,
    level,
    needs: dependencies.map(({ on, condition, data, input }) => ({
      step: plan.steps[on]!.step.name,
      condition,
      data,
      ...(input !== undefined && { input }),
    })),
    ...(cellCount !== undefined && { cellCount }),
    ...(lists && { lists }),
    ...(cells &&
      lists === undefined && {
        cells: cells.map((cell, index) => ({
          ...{ cell: cell.key, ...describeValues(plan, cell) },
          ...(step.perCell && describeCellValues(valuesOfCell(plan, number, index), late)),
          ...(placement && choices.length > 1 && describeChoice(choiceOf(placement, { step: number, cell: index }))),
        })),
      }),
    ...(late.length > 0 && { lateValues: late }),
    cache: step.cache !== undefined,
    ...(step.resources && { resources: step.resources }),
    ...(choices.length === 1 && describeChoice(choices[0]!)),
    ...(step.instanceType !== undefined && { instanceType: step.instanceType }),
    ...(step.tasks !== undefined && { tasks: step.tasks }),
  };
}

/** What a cell has of its own, as far as it is known. */
function describeCellValues(
  { timeoutMs, queueTimeoutMs, deadlineMs, priority, resources, retry, pools }: CellValues,
  late: readonly string[],
) {
  return {
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(queueTimeoutMs !== undefined && { queueTimeoutMs }),
    ...(deadlineMs !== undefined && { deadlineMs }),
    priority,
    ...(resources && { resources }),
    ...(Object.keys(pools).length > 0 && { pools }),
    ...(!late.some((name) => name.startsWith('retry.')) && { retry }),
  };
}

function describeChoice({ clusters, instanceType }: PlacementChoice) {
  return { ...(instanceType !== undefined && { instanceType }), clusterIds: clusters };
}

function describeReuse({ reused, skipped, reason }: ReusePreview) {
  return { reused, skipped, ...(reason !== '' && { message: reason }) };
}
