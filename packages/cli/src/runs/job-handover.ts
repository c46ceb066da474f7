import { setTimeout as delay } from 'node:timers/promises';
import { fail, ok, type Result } from '@sluice/core';
import { type JobEnvironment, readJobEnvironment } from '@sluice/host-system';
import type { RunHandle } from '@sluice/runner';
import { findRequeueFault, type JobLimit, readLimit, requeueJob } from '@sluice/service';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import type { CommandError } from '../context/command-rejection.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { reject } from '../context/reject.ts';

/** How long before the end of the job a run is suspended: at most so long, or so much of the time limit. */
const NOTICE = { mostMs: 150_000, part: 0.25 };
/** A timer cannot wait longer. */
const LONGEST_MS = 2 ** 31 - 1;
/** Slurm ends the job meanwhile. */
const END_MS = 120_000;

/** Hands a run over to the next start of the job of Slurm in which this process runs. */
export interface JobHandover {
  /** Of the runs that this job starts. */
  readonly label: Readonly<Record<string, string>>;
  /** The job was started before, and may have left a run. */
  readonly isRestart: boolean;
  /** Suspends a run shortly before the job reaches its time limit. Call the result when the run has ended. */
  watch(run: Pick<RunHandle, 'suspend'>, print: (line: string) => void): () => void;
  /** If it has suspended a run, puts the job into the queue again, which ends this process. The service must be closed. */
  finish(exitCode: number, options: GlobalOptions): Promise<number>;
}

/** Fails if this is not in a job, or in one that Slurm cannot start again with its script. */
export async function prepareHandover(context: CommandContext): Promise<Result<JobHandover, CommandError>> {
  const rejectStart = (why: string) => {
    const message = `could not prepare to resubmit the job: ${why}; nothing was started`;
    return fail({ exitCode: EXIT_CODE.rejected, message });
  };
  const job = readJobEnvironment(context.env);
  if (job === undefined)
    return rejectStart('this is not in a job of Slurm: add --resubmit to a command in a script of sbatch');
  const { jobId, restarts } = job;
  try {
    const fault = await findRequeueFault(jobId);
    return fault === undefined
      ? ok(createHandover({ jobId, restarts, limit: await readLimit(jobId), context }))
      : rejectStart(`of job ${jobId}, ${fault}`);
  } catch (error) {
    return rejectStart((error as Error).message);
  }
}

function createHandover({
  jobId,
  restarts,
  limit,
  context,
}: Pick<JobEnvironment, 'jobId' | 'restarts'> & {
  readonly limit: JobLimit | undefined;
  readonly context: CommandContext;
}): JobHandover {
  let hasSuspended = false;
  return {
    label: { 'slurm-job': jobId },
    isRestart: restarts > 0,
    watch(run, print) {
      if (limit === undefined) return () => {};
      const dueAt = limit.endsAt - Math.min(NOTICE.mostMs, limit.limitMs * NOTICE.part);
      let timer: NodeJS.Timeout;
      const wait = () => {
        const ms = dueAt - Date.now();
        timer = setTimeout(ms > LONGEST_MS ? wait : suspend, Math.min(LONGEST_MS, Math.max(0, ms)));
      };
      const suspend = () => {
        hasSuspended = true;
        print(`suspending: job ${jobId} is about to reach its time limit`);
        void run.suspend();
      };
      wait();
      return () => clearTimeout(timer);
    },
    async finish(exitCode, options) {
      if (!hasSuspended || exitCode !== EXIT_CODE.suspended) return exitCode;
      context.terminal.err(`putting job ${jobId} into the queue again; its next start continues the run\n`);
      try {
        await requeueJob(jobId);
      } catch (error) {
        const message = `could not put job ${jobId} into the queue again: ${(error as Error).message}; the run is suspended: submit a job with \`sluice resume --resubmit\``;
        return reject({ exitCode, message }, { context, options });
      }
      // The script must not continue.
      await delay(END_MS);
      return exitCode;
    },
  };
}
