import { describeUnknown, fail, ok, type Plan, type Result } from '@sluice/core';
import { type Reuse, type RunError, type RunFiles, replayFiles, splitCellName, stepIndex } from '@sluice/run';
import { isCollecting, readCustody } from '../journal/custody.ts';
import type { Disk } from '../journal/disk.ts';
import { findCell } from '../runs/find-cell.ts';
import { readRunFiles } from '../runs/read-run.ts';

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
  const unknownCell = findUnknownCell(from, files.value);
  if (unknownCell !== undefined) return fail(unknownCell);
  return ok({
    reuse: { runId: files.value.runId, from: [...new Set(from)].sort() },
    plannedTime: header.plannedTime,
  });
}

/** The cells of the run that is reused are known. What it does not have is run anyway, so its name must be a mistake. */
function findUnknownCell(from: Reuse['from'], files: RunFiles): RunError | undefined {
  const named = from.filter((name) => splitCellName(name).cell !== undefined);
  if (named.length === 0) return undefined;
  const replayed = replayFiles(files);
  if (!replayed.ok) return replayed.error;
  for (const name of named) {
    const found = findCell(replayed.value, name);
    if (!found.ok) return found.error;
  }
  return undefined;
}
