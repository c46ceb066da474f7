import { approveRun } from '@sluice/runner';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { readUserName } from '../context/read-user-name.ts';
import { fromRunRefusal, refuse } from '../context/refuse.ts';
import { suggestCommand } from '../context/suggest-command.ts';
import { findHome } from '../home/home.ts';
import { selectRun } from '../runs/select-run.ts';

/** `reject` answers the approval with a rejection instead. */
export interface ApproveOptions extends GlobalOptions {
  readonly reject?: boolean;
}

/** `sluice approve`: approves or rejects a step that waits for approval. */
export async function approve(
  { run: prefix, step }: { run: string; step: string },
  context: CommandContext,
  options: ApproveOptions,
): Promise<number> {
  const home = findHome(context, options);
  const found = await selectRun(home, { prefix, options });
  if (!found.ok) return refuse(found.error, { context, options });
  const { runId } = found.value;
  const approved = options.reject !== true;
  const answered = await approveRun(home, { runId, step, approved, by: readUserName() });
  if (!answered.ok) return refuse(fromRunRefusal(answered.error, { options }), { context, options });
  const advice = answered.value.driven
    ? ''
    : `; no process is running it; resume it with: ${suggestCommand(['resume', runId], options)}`;
  context.terminal.out(`${approved ? 'approved' : 'rejected'} ${step} of run ${runId}${advice}\n`);
  return EXIT_CODE.ok;
}
