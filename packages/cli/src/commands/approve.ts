import { approveRun } from '@sluice/runner';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { readUserName } from '../context/read-user-name.ts';
import { fromRunError, reject, withAdvice } from '../context/reject.ts';
import { suggestCommand } from '../context/suggest-command.ts';
import { findHome } from '../home/home.ts';
import { renderValue } from '../json/render-value.ts';
import { actOnServer } from '../runs/act-on-server.ts';
import { adviseOnRunArgument } from '../runs/advise-on-run-argument.ts';
import { selectShownRun } from '../runs/select-shown-run.ts';

/** `run` is the prefix of a run's ID (default: the newest run); `reject` rejects the step. */
export interface ApproveOptions extends GlobalOptions {
  readonly run?: string;
  readonly reject?: boolean;
}

/** `sluice approve`: approves or rejects a step that waits for approval. */
export async function approve(step: string, context: CommandContext, options: ApproveOptions): Promise<number> {
  const home = findHome(context, options);
  const found = await selectShownRun(home, { prefix: options.run, context, options });
  if (!found.ok) return reject(found.error, { context, options });
  const { run, place } = found.value;
  const { runId } = run;
  const approved = options.reject !== true;
  const announce = (isExecuted: boolean) => {
    const { terminal } = context;
    const status = isExecuted ? 'running' : 'suspended';
    if (options.json === true) terminal.out(renderValue('approval', { runId, step, approved, status }));
    else {
      const resume = suggestCommand(['resume', runId], options);
      const advice = isExecuted ? '' : `; no process is running it; resume it with: ${resume}`;
      terminal.out(`${approved ? 'approved' : 'rejected'} ${step} of run ${runId}${advice}\n`);
    }
    return EXIT_CODE.ok;
  };
  if (place !== undefined) {
    const verb = approved ? 'approve' : 'reject';
    return actOnServer({ runId, verb, step }, { context, options: found.value.options, print: () => announce(true) });
  }
  const answered = await approveRun(home, { runId, step, approved, by: readUserName() });
  if (!answered.ok) {
    const advice = await adviseOnRunArgument(home, { word: step, options });
    return reject(withAdvice(fromRunError(answered.error, { options, runId }), advice), { context, options });
  }
  return announce(answered.value.driven);
}
