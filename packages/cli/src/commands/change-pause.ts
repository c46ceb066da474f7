import { listSchedules, pauseSchedule, unpauseSchedule } from '@sluice/home';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { readUserName } from '../context/read-user-name.ts';
import { reject, withAdvice } from '../context/reject.ts';
import { suggestCommand } from '../context/suggest-command.ts';
import { findHome } from '../home/home.ts';
import { renderSchedule } from '../json/render-schedule.ts';

/** `sluice schedule pause|unpause`: changes a schedule for all processes of the home, also for later ones. */
export async function changePause(
  { name, verb }: { readonly name: string; readonly verb: 'pause' | 'unpause' },
  context: CommandContext,
  options: GlobalOptions,
): Promise<number> {
  const place = { home: findHome(context, options), name };
  const done = await (verb === 'pause' ? pauseSchedule({ ...place, by: readUserName() }) : unpauseSchedule(place));
  if (!done.ok) {
    const rejection = { exitCode: EXIT_CODE.rejected, message: `could not ${verb} ${name}: ${done.error}` };
    const advice = `list the schedules with: ${suggestCommand(['schedule', 'list'], options)}`;
    return reject(withAdvice(rejection, advice), { context, options });
  }
  if (options.json === true) {
    const schedules = await listSchedules({ home: place.home });
    for (const schedule of schedules) if (schedule.name === name) context.terminal.out(renderSchedule(schedule));
    return EXIT_CODE.ok;
  }
  const undo = suggestCommand(['schedule', 'unpause', name], options);
  context.terminal.out(
    verb === 'pause'
      ? `paused ${name}: no planned time is run; runs that have begun continue; end the pause with: ${undo}\n`
      : `unpaused ${name}: times that passed meanwhile are not caught up\n`,
  );
  return EXIT_CODE.ok;
}
