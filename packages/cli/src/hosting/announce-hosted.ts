import type { Result } from '@sluice/core';
import type { HostStatus } from '@sluice/host';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { EXIT_CODE, type ExitCode } from '../context/exit-code.ts';
import { refuse } from '../context/refuse.ts';
import { suggestCommand } from '../context/suggest-command.ts';
import { renderValue } from '../json/render-value.ts';

/** Prints that a run is hosted, and how to follow it, or that it needs no host, or why none has accepted it. */
export function announceHosted(
  handed: Result<HostStatus | undefined, string>,
  { runId, context, options }: { runId: string; context: CommandContext; options: GlobalOptions },
): ExitCode {
  if (!handed.ok) {
    const resume = suggestCommand(['resume', runId], options);
    const message = `could not hand run ${runId} to a host: ${handed.error}; the next process that hosts the runs of the home continues it; continue it now with: ${resume}`;
    return refuse({ exitCode: EXIT_CODE.suspended, message }, { context, options });
  }
  if (handed.value === undefined) {
    const show = suggestCommand(['show', runId], options);
    if (options.json === true) context.terminal.out(renderValue('detached', { runId }));
    else context.terminal.out(`run ${runId} no longer needs a process; show it with: ${show}\n`);
    return EXIT_CODE.ok;
  }
  const { pid } = handed.value;
  if (options.json === true) context.terminal.out(renderValue('detached', { runId, hostPid: pid }));
  else {
    context.terminal.out(`run ${runId} continues in the background (process ${pid})\n`);
    context.terminal.out(`follow it with: ${suggestCommand(['attach', runId], options)}\n`);
  }
  return EXIT_CODE.ok;
}
