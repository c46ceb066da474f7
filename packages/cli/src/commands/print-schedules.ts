import { listSchedules } from '@sluice/home';
import { orderWords, type RunSettings } from '@sluice/run';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { quoteWord } from '../context/suggest-command.ts';
import { findHome } from '../home/home.ts';
import { renderSchedule } from '../json/render-schedule.ts';
import { renderPlannedTime } from '../text/render-planned-time.ts';
import { renderTable } from '../text/render-table.ts';
import { shortPath } from '../text/short-path.ts';

/** `sluice schedule list`: the schedules that processes of this home run or have run. */
export async function printSchedules(context: CommandContext, options: GlobalOptions): Promise<number> {
  const { terminal, cwd } = context;
  const home = findHome(context, options);
  const schedules = await listSchedules({ home });
  if (options.json === true) for (const schedule of schedules) terminal.out(renderSchedule(schedule));
  else if (schedules.length === 0) terminal.err(`no schedules in ${home}`);
  else {
    const rows = schedules.map(({ name, file, settings, timezone, next, pausedAt }) => [
      name,
      file === undefined ? '-' : shortPath(file, cwd),
      renderSettings(settings),
      next[0] === undefined ? '-' : renderPlannedTime(next[0], timezone),
      pausedAt === undefined ? 'no' : `since ${renderPlannedTime(pausedAt, timezone)}`,
    ]);
    terminal.out(renderTable([['SCHEDULE', 'FILE', 'OPTIONS', 'NEXT', 'PAUSED'], ...rows]));
  }
  return EXIT_CODE.ok;
}

/** The options of `sluice schedule run` that record these settings. */
function renderSettings(settings: RunSettings | undefined): string {
  if (settings === undefined) return 'not recorded';
  const words = orderWords({ file: '/', ...settings }).slice(2);
  return words.map(quoteWord).join(' ') || '-';
}
