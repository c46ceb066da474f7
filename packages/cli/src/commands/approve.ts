import { approveRun } from '@sluice/runner';
import type { CommandContext, GlobalOptions } from '../command-context.ts';
import { EXIT_CODE } from '../exit-code.ts';
import { findRun } from '../find-run.ts';
import { findHome } from '../home.ts';
import { nameUser } from '../name-user.ts';
import { fromRunner, refuse } from '../refuse.ts';
import { suggestCommand } from '../suggest-command.ts';

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
