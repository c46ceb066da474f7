import { dirname, join } from 'node:path';
import { fail, ok, type Result } from '@sluice/core';
import { runDirectory } from '@sluice/home';
import { type DriverJob, submitDriverJob } from '@sluice/service';
import { chooseService } from '../connect/choose-service.ts';
import { tryWithService } from '../connect/with-service.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { suggestCommand } from '../context/suggest-command.ts';
import { isHomeNamed } from '../home/home.ts';
import { findUnknownIn } from '../runs/find-unknown-in.ts';
import type { RunInJob } from '../runs/handed-run.ts';
import type { RejectedStart, RunRequest } from '../runs/prepare-run.ts';
import { recordRun, type Submission } from './submit-prepared.ts';

/** Which Slurm asks for when a run has no ID yet. */
const NO_RUN = 'run';

/**
 * Records a prepared run, and submits a job of Slurm that continues it as `sluice resume` does, each time that the job
 * starts. Slurm checks the job first, so that nothing is recorded that cannot be submitted.
 */
export async function submitAsJob(
  submission: Submission & Pick<RunRequest, 'context'>,
): Promise<Result<RunInJob, RejectedStart>> {
  const { context, options, prepared } = submission;
  const chosen = chooseService(options, context);
  if (!chosen.ok) return chosen;
  const { url, engine, home } = chosen.value;
  if (url !== undefined || engine.name !== 'slurm') {
    const message = 'could not submit the run as a job: it does not use the engine slurm; add --engine slurm';
    return fail({ exitCode: EXIT_CODE.rejected, code: 'USAGE', message });
  }
  const { name } = prepared.loaded.plan.pipeline;
  const createJob = (runId: string): DriverJob => ({
    name: `sluice ${name}`,
    command: resumeCommand(runId, { home, submission }),
    directory: dirname(home),
    logPath: join(runDirectory(home, runId), 'job.log'),
    options: engine.options,
    env: context.env,
  });
  try {
    await submitDriverJob(createJob(NO_RUN), { isTest: true });
  } catch (error) {
    const message = `could not submit the run as a job: ${(error as Error).message}; nothing was started`;
    return fail({ exitCode: EXIT_CODE.rejected, message });
  }
  const recorded = await tryWithService<string, RejectedStart>(
    { context, options, startsContainers: true },
    async (opened) => {
      const unknown = await findUnknownIn(prepared.loaded.plan, opened);
      return unknown === undefined ? recordRun(opened, submission) : fail(unknown);
    },
  );
  if (!recorded.ok) return recorded;
  // The job opens the service after this process has closed it.
  return submitRecorded(recorded.value, createJob(recorded.value), submission);
}

async function submitRecorded(
  runId: string,
  job: DriverJob,
  { options }: Submission,
): Promise<Result<RunInJob, RejectedStart>> {
  try {
    const jobId = await submitDriverJob(job, { isTest: false });
    return ok({ runId, to: 'job', jobId, log: job.logPath });
  } catch (error) {
    const resume = suggestCommand(['resume', runId], options);
    const message = `could not submit the job of run ${runId}: ${(error as Error).message}; the run is suspended: continue it with: ${resume}`;
    return fail({ exitCode: EXIT_CODE.suspended, message });
  }
}

/** The run has recorded its service; a home that was found and not named is found again, as with a host. */
function resumeCommand(
  runId: string,
  { home, submission: { context, options } }: { readonly home: string; readonly submission: Submission },
): readonly string[] {
  const program = context.program ?? [...process.execArgv, process.argv[1]!];
  const named = isHomeNamed(context, options) ? ['--home', home] : [];
  return [process.execPath, ...program, 'resume', runId, ...named];
}
