import { ok } from '@sluice/core';
import { placeOf, readCustody, runCustody } from '@sluice/home';
import { resumeRun } from '@sluice/runner';
import { keepRecordedService } from '../connect/keep-recorded-service.ts';
import { withService } from '../connect/with-service.ts';
import type { CommandContext } from '../context/command-context.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { holdSignals } from '../context/hold-signals.ts';
import { fromRunError, reject } from '../context/reject.ts';
import { createSecretReader } from '../home/create-secret-reader.ts';
import { findHome } from '../home/home.ts';
import { takeRun } from '../home/take-run.ts';
import { createProgress } from '../render/create-progress.ts';
import type { FollowOptions } from '../runs/follow-options.ts';
import { followRun } from '../runs/follow-run.ts';
import type { JobHandover } from '../runs/job-handover.ts';
import { selectRun, selectUnlistedRun } from '../runs/select-run.ts';
import { attach } from './attach.ts';
import { detach } from './detach.ts';

/** Options of `sluice resume`. */
export interface ResumeOptions extends FollowOptions {
  /** Suspend a run that only waits for an approval. */
  readonly stopAtApproval?: boolean;
  /** Have the run executed by a process in the background. */
  readonly detach?: boolean;
  /** Continue the run in the next start of the job of Slurm in which this process runs. */
  readonly resubmit?: boolean;
}

/** `sluice resume`: continues a suspended run and follows it. No container is started twice. */
export async function resume(
  prefix: string | undefined,
  context: CommandContext,
  options: ResumeOptions,
): Promise<number> {
  if (options.resubmit !== true) return continueRun(prefix, context, options);
  const { withHandover } = await import('../runs/job-handover.ts');
  return withHandover({ context, options }, (handover) => continueRun(prefix, context, { ...options, handover }));
}

/** As `resume`, for a caller that has a handover, or needs none. */
export async function continueRun(
  prefix: string | undefined,
  context: CommandContext,
  { handover, ...options }: ResumeOptions & { readonly handover?: JobHandover },
): Promise<number> {
  const home = findHome(context, options);
  const found = await selectRun(home, {
    prefix,
    accept: ({ status }) => status === 'suspended',
    which: ' that is suspended',
    changes: { words: ['resume'], cwd: context.cwd, oneOf: 'pipeline' },
    options,
  });
  const chosen = found.ok
    ? ok(found.value.runId)
    : selectUnlistedRun(home, { prefix, options, otherwise: found.error });
  if (!chosen.ok) return reject(chosen.error, { context, options });
  const runId = chosen.value;
  if (options.detach === true) return detach(runId, context, options);
  // Its server continues it by itself.
  if (placeOf(await readCustody(runCustody(home, runId))) !== undefined) return attach(runId, context, options);
  // The host of the home would resume it again.
  const isTaken = await takeRun(home, { runId, of: 'host', verb: 'resume' });
  if (!isTaken.ok) return reject(fromRunError(isTaken.error, { options, runId }), { context, options });
  const reachable = await keepRecordedService(home, runId, options);
  const reached = { context, options: reachable, startsContainers: true };
  return withService(reached, async ({ service, traces, loginAdvice }) => {
    const progress = createProgress(context.terminal, options);
    const secrets = createSecretReader(home, context.env);
    const held = holdSignals(context);
    try {
      const resumed = await resumeRun({
        runId,
        service,
        home,
        secrets,
        reporter: progress,
        leavesForPeople: options.stopAtApproval === true,
        ...(traces && { traces }),
      });
      if (resumed.ok) return await followRun(resumed.value, { context: held.context, progress, options, handover });
      progress.close();
      const rejection = fromRunError(resumed.error, { options, runId, loginAdvice });
      // The run stays suspended, unlike one that could not start.
      const exitCode = resumed.error.code === 'GROUP_BUSY' ? EXIT_CODE.suspended : rejection.exitCode;
      return reject({ ...rejection, exitCode }, { context, options });
    } finally {
      held.release();
    }
  });
}
