import { createPlannedTimes } from '@sluice/home';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { reject } from '../context/reject.ts';
import { findHome } from '../home/home.ts';
import { loadRecorded } from '../hosting/schedule-options.ts';
import { renderValue } from '../json/render-value.ts';
import type { PipelineFileOptions } from '../pipeline/load-plan.ts';
import { renderPlannedTime } from '../text/render-planned-time.ts';

/** Options of `sluice schedule next`. */
export interface PlannedTimesOptions extends GlobalOptions, PipelineFileOptions {
  /** Number of planned times to list, of all files together. */
  readonly limit: number;
}

/** `sluice schedule next`: lists planned times in their order. Starts nothing. */
export async function listPlannedTimes(
  files: readonly string[],
  context: CommandContext,
  options: PlannedTimesOptions,
): Promise<number> {
  const scheduled = await loadRecorded(files, { home: findHome(context, options), context, options });
  if (!scheduled.ok) {
    return reject({ exitCode: EXIT_CODE.rejected, message: scheduled.error }, { context, options });
  }
  const planned = scheduled.value.flatMap(({ name, plan, timezone }) => {
    const times = createPlannedTimes(plan.pipeline.schedule!);
    const found: { schedule: string; planned: number; timezone: string }[] = [];
    for (let at = times.after(Date.now()); at !== undefined && found.length < options.limit; at = times.after(at)) {
      found.push({ schedule: name, planned: at, timezone });
    }
    return found;
  });
  planned.sort((a, b) => a.planned - b.planned || (a.schedule < b.schedule ? -1 : 1));
  for (const { schedule, planned: at, timezone } of planned.slice(0, options.limit)) {
    const plannedAt = new Date(at).toISOString();
    context.terminal.out(
      options.json === true
        ? renderValue('plannedTime', { schedule, plannedAt, timezone })
        : `${renderPlannedTime(at, timezone)}  ${schedule}\n`,
    );
  }
  return EXIT_CODE.ok;
}
