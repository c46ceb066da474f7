import { createSystemDisk, placeOf, readCustody, replayFromHome, runCustody } from '@sluice/home';
import { describeApproval, findApprovals, printableLine, type RunSummary, splitCellName, stepIndex } from '@sluice/run';
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

/** `run` is the prefix of a run's ID (default: the only run in which the step waits). */
export interface ApproveOptions extends GlobalOptions {
  readonly run?: string;
}

/** `sluice approve` and `sluice reject`: answer for a step that waits for approval. */
export async function approve(
  verb: 'approve' | 'reject',
  step: string,
  { context, options }: { readonly context: CommandContext; readonly options: ApproveOptions },
): Promise<number> {
  const home = findHome(context, options);
  const approved = verb === 'approve';
  const found = await selectShownRun(home, {
    prefix: options.run,
    accept: (run) => mayWait(home, run, step),
    which: ` in which ${step} waits for approval`,
    changes: { words: [verb, step, '-r'], cwd: context.cwd, oneOf: 'run' },
    context,
    options,
  });
  if (!found.ok) {
    const advice = await adviseOnRunArgument(home, { word: step, options });
    return reject(withAdvice(found.error, advice), { context, options });
  }
  const { run, place } = found.value;
  const { runId, pipeline } = run;
  const question = (await findApproval(home, runId, step))?.question;
  const announce = (isApplied: boolean) => {
    const { terminal } = context;
    const status = isApplied ? 'running' : 'suspended';
    if (options.json === true) terminal.out(renderValue('approval', { runId, step, approved, status }));
    else {
      const resume = suggestCommand(['resume', runId], options);
      const advice = isApplied ? '' : `; no process is running it; resume it with: ${resume}`;
      const asked = question === undefined ? '' : ` ("${printableLine(question)}")`;
      terminal.out(`${approved ? 'approved' : 'rejected'} ${step} of run ${runId} of ${pipeline}${asked}${advice}\n`);
    }
    return EXIT_CODE.ok;
  };
  if (place !== undefined) {
    return actOnServer({ runId, verb, step }, { context, options: found.value.options, print: () => announce(true) });
  }
  const answered = await approveRun(home, { runId, step, approved, by: readUserName() });
  if (!answered.ok) {
    const advice = await adviseOnRunArgument(home, { word: step, options });
    return reject(withAdvice(fromRunError(answered.error, { options, runId }), advice), { context, options });
  }
  return announce(answered.value.isApplied);
}

/** Whether the step of a run waits for approval; of a run on a server, whether it may: the copy of its journal may be old. */
async function mayWait(home: string, { runId, endedAt }: RunSummary, step: string): Promise<boolean> {
  if (endedAt !== undefined) return false;
  const state = (await findApproval(home, runId, step))?.state;
  if (state !== 'waiting') return state === 'awaitingApproval';
  return placeOf(await readCustody(runCustody(home, runId))) !== undefined;
}

/** The state of a step, and what it asks. */
async function findApproval(home: string, runId: string, step: string) {
  const run = await replayFromHome(createSystemDisk(), home, runId);
  const index = run.ok ? stepIndex(run.value.facts.plan, splitCellName(step).step) : undefined;
  if (!run.ok || index === undefined) return undefined;
  const { facts, scheduler } = run.value;
  const open = findApprovals({ plan: facts.plan, facts, scheduler }, step);
  const [first] = open;
  if (first === undefined) return { state: scheduler.state(index), question: describeApproval(run.value, index) };
  const more = open.length === 1 ? '' : `, and ${open.length - 1} more`;
  return { state: 'awaitingApproval', question: `${describeApproval(run.value, index, first.cell)}${more}` };
}
