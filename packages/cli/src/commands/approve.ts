import { approveRun } from '@sluice/runner';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { readUserName } from '../context/read-user-name.ts';
import { fromRunRefusal, refuse, withAdvice } from '../context/refuse.ts';
import { suggestCommand } from '../context/suggest-command.ts';
import { findHome } from '../home/home.ts';
import { adviseOnRunArgument } from '../runs/advise-on-run-argument.ts';
import { selectRun } from '../runs/select-run.ts';

/** `run` is the prefix of a run's ID (default: the newest run); `reject` rejects the step. */
export interface ApproveOptions extends GlobalOptions {
  readonly run?: string;
  readonly reject?: boolean;
}

/** `sluice approve`: approves or rejects a step that waits for approval. */
export async function approve(step: string, context: CommandContext, options: ApproveOptions): Promise<number> {
  const home = findHome(context, options);
  const found = await selectRun(home, { prefix: options.run, options });
  if (!found.ok) return refuse(found.error, { context, options });
  const { runId } = found.value;
  const approved = options.reject !== true;
  const answered = await approveRun(home, { runId, step, approved, by: readUserName() });
  if (!answered.ok) {
    const advice = await adviseOnRunArgument(home, { word: step, options });
    return refuse(withAdvice(fromRunRefusal(answered.error, { options, runId }), advice), { context, options });
  }
  const advice = answered.value.driven
    ? ''
    : `; no process is running it; resume it with: ${suggestCommand(['resume', runId], options)}`;
  context.terminal.out(`${approved ? 'approved' : 'rejected'} ${step} of run ${runId}${advice}\n`);
  return EXIT_CODE.ok;
}
