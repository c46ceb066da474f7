import { describeUnknown, fail, ok, type Plan, type Result } from '@sluice/core';
import { type Reuse, type RunError, splitCellName, stepIndex } from '@sluice/run';
import { isCollecting, readCustody } from '../journal/custody.ts';
import type { Disk } from '../journal/disk.ts';
import { readRunFiles, replayFromHome } from '../runs/read-run.ts';

/** Checks that a run can be reused by this pipeline. `plannedTime` is that of the earlier run, which the new run repeats. */
export async function checkReuse(
  { runId, from }: Reuse,
  { disk, home, plan }: { readonly disk: Disk; readonly home: string; readonly plan: Plan },
): Promise<Result<{ readonly reuse: Reuse; readonly plannedTime: number }, RunError>> {
  const files = await readRunFiles(disk, home, runId);
  if (!files.ok) return files;
  if (isCollecting(await readCustody({ disk, directory: files.value.directory }))) {
    const message = `could not reuse run ${files.value.runId}: it is being removed as garbage`;
    return fail({ code: 'RUN_NOT_FOUND', message });
  }
  const header = files.value.records.find((record) => record.kind === 'run');
  const { name } = plan.pipeline;
  if (header === undefined || header.pipeline !== name) {
    const whose = header === undefined ? 'has not begun' : `is one of pipeline ${header.pipeline}`;
    const message = `could not reuse run ${files.value.runId}: it ${whose}, and this is ${name}`;
    return fail({ code: 'RUN_NOT_FOUND', message });
  }
  const unknown = from.map(splitCellName).find(({ step }) => stepIndex(plan, step) === undefined);
  if (unknown !== undefined) {
    const names = plan.steps.map(({ step }) => step.name);
    return fail({
      code: 'STEP_NOT_FOUND',
      message: `pipeline ${name} has no step ${describeUnknown(unknown.step, names)}`,
    });
  }
  const unknownCell = await findUnknownCell(from, { disk, home, runId: files.value.runId });
  if (unknownCell !== undefined) return fail({ code: 'STEP_NOT_FOUND', message: unknownCell });
  return ok({
    reuse: { runId: files.value.runId, from: [...new Set(from)].sort() },
    plannedTime: header.plannedTime,
  });
}

/** The cells of the run that is reused are known. What it does not have is run anyway, so its name must be a mistake. */
async function findUnknownCell(
  from: Reuse['from'],
  { disk, home, runId }: { readonly disk: Disk; readonly home: string; readonly runId: string },
): Promise<string | undefined> {
  const named = from.map(splitCellName).filter(({ cell }) => cell !== undefined);
  if (named.length === 0) return undefined;
  const replayed = await replayFromHome(disk, home, runId);
  if (!replayed.ok) return replayed.error.message;
  const { plan, cells } = replayed.value.facts;
  for (const { step, cell = '' } of named) {
    const index = stepIndex(plan, step);
    const keys = (index === undefined ? undefined : cells[index])?.map(({ key }) => key) ?? [];
    if (!keys.includes(cell)) return `step ${step} of run ${runId} has no cell ${describeUnknown(cell, keys)}`;
  }
  return undefined;
}
