import { fail, ok, type Result } from '@sluice/core';
import { createSystemDisk, explainStepDifference, findPreviousRun, listRuns, replayFromHome } from '@sluice/home';
import { type ReplayedRun, splitCellName } from '@sluice/run';
import { createSourceLister } from '@sluice/runner';
import { openService } from '../connect/open-service.ts';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { type CommandError, wholeMessage } from '../context/command-rejection.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { fromRunError, reject } from '../context/reject.ts';
import { renderValue } from '../json/render-value.ts';
import { renderDifference } from '../render/render-difference.ts';
import { type ShownRun, selectShownRun } from '../runs/select-shown-run.ts';

/** A step or a cell, and the run with which it is compared. */
interface WhyDifferentOptions extends GlobalOptions {
  /** `RUN`, `RUN/STEP[/CELL]`, or `previous`. */
  readonly against: string;
}

const PREVIOUS = 'previous';

/** `sluice why --against`: explains why a step or a cell differs from that of another run. */
export async function whyDifferent(
  step: string,
  {
    run: { run },
    context,
    options,
  }: { run: ShownRun<GlobalOptions>; context: CommandContext; options: WhyDifferentOptions },
  home: string,
): Promise<number> {
  const disk = createSystemDisk();
  const read = (runId: string) => replayFromHome(disk, home, runId);
  const here = await read(run.runId);
  if (!here.ok) return reject(fromRunError(here.error, { options, runId: run.runId }), { context, options });
  const found = await findOther(home, { here: here.value, step, context, options });
  if (!found.ok) return reject(found.error, { context, options });
  const other = await read(found.value.runId);
  if (!other.ok) return reject(fromRunError(other.error, { options, runId: found.value.runId }), { context, options });
  const service = createLazyService(options, context);
  try {
    const explained = await explainStepDifference({
      run: here.value,
      ...{ step, other: other.value, listFiles: createSourceLister(home, service.open) },
      ...(found.value.step !== undefined && { otherStep: found.value.step }),
    });
    if (!explained.ok)
      return reject(fromRunError(explained.error, { options, runId: run.runId }), { context, options });
    const { terminal } = context;
    terminal.out(
      options.json === true ? renderValue('difference', explained.value) : renderDifference(explained.value, terminal),
    );
    return EXIT_CODE.ok;
  } finally {
    await service.close();
  }
}

interface Asked {
  readonly here: ReplayedRun;
  readonly step: string;
  readonly context: CommandContext;
  readonly options: WhyDifferentOptions;
}

/** The other run, and its step if it is named. */
async function findOther(
  home: string,
  { here, step, context, options }: Asked,
): Promise<Result<{ readonly runId: string; readonly step?: string }, CommandError>> {
  if (options.against === PREVIOUS) {
    const disk = createSystemDisk();
    const read = (runId: string) => replayFromHome(disk, home, runId);
    const previous = await findPreviousRun(here, { step, runs: await listRuns(home), read });
    if (previous !== undefined) return ok({ runId: previous.runId });
    const message = `could not find an earlier run of ${here.facts.plan.pipeline.name} that has the step ${splitCellName(step).step}; name a run with --against`;
    return fail({ exitCode: EXIT_CODE.rejected, code: 'RUN_NOT_FOUND', message });
  }
  const { step: prefix, cell: otherStep } = splitCellName(options.against);
  const selected = await selectShownRun(home, { prefix, context, options });
  if (!selected.ok) return selected;
  return ok({ runId: selected.value.run.runId, ...(otherStep !== undefined && { step: otherStep }) });
}

/** The service of a run, opened only if files are compared. */
function createLazyService(options: GlobalOptions, context: CommandContext) {
  let opening: ReturnType<typeof openService> | undefined;
  return {
    async open() {
      opening ??= openService(options, context);
      const opened = await opening;
      return opened.ok ? ok(opened.value.service) : fail(wholeMessage(opened.error));
    },
    async close() {
      const opened = await opening;
      if (opened?.ok) await opened.value.close();
    },
  };
}
