import type { ContainerService } from '@sluice/client';
import { fail, type Result } from '@sluice/core';
import { compareSteps, explainStepDifference, findPreviousRun, type RunFollower } from '@sluice/home';
import type { ReplayedRun, StepDifference } from '@sluice/run';
import { createSourceLister } from '@sluice/runner';
import type { z } from 'zod';
import { ApiError, fromRunError } from '../errors/api-error.ts';
import type { stepDifferences } from '../schemas/cell-replies.ts';
import { type CellAddress, findCell, findStep } from './describe-cells.ts';
import type { Followers } from './open-followers.ts';
import type { RunList } from './run-list.ts';

interface Api {
  readonly home: string;
  readonly followers: Followers;
  readonly list: Pick<RunList, 'read'>;
  /** Absent: the files of sources are not compared. */
  readonly openService?: (runId: string) => Promise<Result<ContainerService, string>>;
}

interface Query extends CellAddress {
  readonly with?: string;
  readonly withStep?: string;
  readonly withCell?: string;
}

/** Why a step, or a cell of it, differs from that of another run. Throws `ApiError`. */
export async function explainDifference(api: Api, runId: string, query: Query): Promise<StepDifference> {
  const run = await api.followers.read(runId);
  const step = run.model.facts.plan.steps[findStep(run, query.step)]!.step.name;
  const isWhole = query.cell === undefined && query.cellIndex === undefined;
  const cell = isWhole ? undefined : keyOf(run, query);
  const name = nameOf(step, cell);
  const other = query.with === undefined ? await findPrevious(api, run, name) : await api.followers.read(query.with);
  if (other === undefined) {
    const message = `no earlier run of ${run.model.facts.plan.pipeline.name} has the step ${step}`;
    const nothing = { cellCount: 0, comparedCount: 0, groups: [], groupCount: 0, places: [] };
    return { runId, step, ...(cell !== undefined && { cell }), message, ...nothing };
  }
  const { withStep, withCell } = query;
  const { openService } = api;
  const isNamed = withStep !== undefined || withCell !== undefined;
  const explained = await explainStepDifference({
    ...{ run: replayedOf(run), step: name, other: 'model' in other ? replayedOf(other) : other },
    ...(isNamed && { otherStep: nameOf(withStep ?? step, withCell ?? cell) }),
    ...(openService && { listFiles: createSourceLister(api.home, openService) }),
  });
  if (!explained.ok) throw fromRunError(explained.error);
  return explained.value;
}

/** The steps of a run, compared with those of another one. Throws `ApiError`. */
export async function describeStepDifferences(
  { followers }: Api,
  runId: string,
  other: string,
): Promise<z.input<typeof stepDifferences>> {
  const [here, there] = [await followers.read(runId), await followers.read(other)];
  const { steps, total } = await compareSteps(replayedOf(here), replayedOf(there));
  return { steps: [...steps], total };
}

async function findPrevious(
  { followers, list }: Api,
  run: RunFollower,
  step: string,
): Promise<ReplayedRun | undefined> {
  return findPreviousRun(replayedOf(run), {
    ...{ step, runs: await list.read() },
    async read(runId) {
      try {
        return { ok: true, value: replayedOf(await followers.read(runId)) };
      } catch (error) {
        if (error instanceof ApiError) return fail(error.message);
        throw error;
      }
    },
  });
}

function keyOf(run: RunFollower, query: CellAddress): string {
  const { step, cell } = findCell(run, query);
  return run.model.facts.cells[step]?.[cell]?.key ?? '';
}

function nameOf(step: string, cell: string | undefined): string {
  return cell === undefined || cell === '' ? step : `${step}/${cell}`;
}

function replayedOf({ runId, directory, model: { facts, scheduler } }: RunFollower): ReplayedRun {
  return { runId, directory, facts, scheduler };
}
