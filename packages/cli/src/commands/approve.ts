import { approveRun } from '@sluice/runner';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { nameUser } from '../context/name-user.ts';
import { fromRunner, refuse } from '../context/refuse.ts';
import { suggestCommand } from '../context/suggest-command.ts';
import { findHome } from '../home/home.ts';
import { findRun } from '../runs/find-run.ts';

export interface ApproveOptions extends GlobalOptions {
  readonly reject?: boolean;
}

/** `sluice approve`: the answer of a person to a step that waits for one. */
export async function approve(
  { run: prefix, step }: { run: string; step: string },
  context: CommandContext,
  options: ApproveOptions,
): Promise<number> {
  const home = findHome(context, options);
  const found = await findRun(home, { prefix, options });
  if (!found.ok) return refuse(found.error, { context, options });
  const { runId } = found.value;
  const approved = options.reject !== true;
  const answered = await approveRun(home, { runId, step, approved, by: nameUser() });
  if (!answered.ok) return refuse(fromRunner(answered.error, { options }), { context, options });
  const goOn = answered.value.driven
    ? ''
    : `; no process is running it; resume it with: ${suggestCommand(['resume', runId], options)}`;
  context.terminal.out(`${step} of run ${runId} is ${approved ? 'approved' : 'rejected'}${goOn}\n`);
  return EXIT_CODE.ok;
}
