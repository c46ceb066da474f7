import { createSystemDisk, listScheduledRuns } from '@sluice/home';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { fromRunError, reject } from '../context/reject.ts';
import { suggestCommand, suggestContinuing } from '../context/suggest-command.ts';
import { findHome } from '../home/home.ts';
import { takeRun } from '../home/take-run.ts';
import { renderValue } from '../json/render-value.ts';
import { selectUnended } from '../runs/select-run.ts';

/** `sluice suspend`: has no process execute a run, until a command continues it. */
export async function suspend(
  prefix: string | undefined,
  context: CommandContext,
  options: GlobalOptions,
): Promise<number> {
  const home = findHome(context, options);
  const found = await selectUnended(home, { verb: 'suspend', prefix, cwd: context.cwd, options });
  if (!found.ok) return reject(found.error, { context, options });
  const { runId, endedAt, status } = found.value;
  const rejection = (message: string) =>
    reject(
      { exitCode: EXIT_CODE.rejected, message: `could not suspend run ${runId}: ${message}` },
      { context, options },
    );
  if (endedAt !== undefined) return rejection(`it has ended: ${status}`);
  if ((await listScheduledRuns(createSystemDisk(), home)).has(runId))
    return rejection(
      `the processes that run its schedule would resume it; to end it: ${suggestCommand(['cancel', runId], options)}`,
    );
  const taken = await takeRun(home, { runId, of: 'any', verb: 'suspend' });
  if (!taken.ok) return reject(fromRunError(taken.error, { options, runId }), { context, options });
  if (!taken.value) return rejection('no process executes it');
  context.terminal.out(
    options.json === true
      ? renderValue('suspension', { runId })
      : `run ${runId} is suspended: its containers keep running, and no other step starts\nresume it with: ${suggestContinuing(runId, options)}\n`,
  );
  return EXIT_CODE.ok;
}
