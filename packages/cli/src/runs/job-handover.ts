import { setTimeout as delay } from 'node:timers/promises';
import { fail, ok, type Result } from '@sluice/core';
import { type JobEnvironment, readJobEnvironment } from '@sluice/host-system';
import type { RunHandle } from '@sluice/runner';
import { findRequeueFault, type JobLimit, readLimit, requeueJob } from '@sluice/service';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
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
}

/**
 * Passes the handover to `act`, which resolves to the exit code of a command. If it has suspended the run, then puts the job
 * into the queue again, which ends this process: `act` must have closed the service. Prints why if this is not in a job, or
 * in one that Slurm cannot start again with its script.
 */
export async function withHandover(
  use: { readonly context: CommandContext; readonly options: GlobalOptions },
  act: (handover: JobHandover) => Promise<number>,
): Promise<number> {
  const found = await findJob(use.context);
  if (!found.ok) {
    const message = `could not prepare to resubmit the job: ${found.error}; nothing was started`;
    return reject({ exitCode: EXIT_CODE.rejected, message }, use);
  }
  const { jobId, restarts, limit } = found.value;
  let hasSuspended = false;
  const exitCode = await act({
    label: { 'slurm-job': jobId },
    isRestart: restarts > 0,
    watch(run, print) {
      if (limit === undefined) return () => {};
      return callAt(limit.endsAt - Math.min(NOTICE.mostMs, limit.limitMs * NOTICE.part), () => {
        hasSuspended = true;
        print(`suspending: job ${jobId} is about to reach its time limit`);
        void run.suspend();
      });
    },
  });
  return hasSuspended && exitCode === EXIT_CODE.suspended ? requeue(jobId, use) : exitCode;
}

interface OwnJob extends Pick<JobEnvironment, 'jobId' | 'restarts'> {
  readonly limit: JobLimit | undefined;
}

async function findJob({ env }: CommandContext): Promise<Result<OwnJob, string>> {
  const job = readJobEnvironment(env);
  if (job === undefined)
    return fail('this is not in a job of Slurm: add --resubmit to a command in a script of sbatch');
  const { jobId, restarts } = job;
  try {
    const fault = await findRequeueFault(jobId);
    return fault === undefined
      ? ok({ jobId, restarts, limit: await readLimit(jobId) })
      : fail(`of job ${jobId}, ${fault}`);
  } catch (error) {
    return fail((error as Error).message);
  }
}

/** Calls at a time in milliseconds since the epoch, unless the result is called before. */
function callAt(at: number, call: () => void): () => void {
  let timer: NodeJS.Timeout;
  const wait = () => {
    const ms = at - Date.now();
    timer = setTimeout(ms > LONGEST_MS ? wait : call, Math.min(LONGEST_MS, Math.max(0, ms)));
  };
  wait();
  return () => clearTimeout(timer);
}

async function requeue(jobId: string, use: Parameters<typeof withHandover>[0]): Promise<number> {
  use.context.terminal.err(`putting job ${jobId} into the queue again; its next start continues the run\n`);
  try {
    await requeueJob(jobId);
  } catch (error) {
    const message = `could not put job ${jobId} into the queue again: ${(error as Error).message}; the run is suspended: submit a job with \`sluice resume --resubmit\``;
    return reject({ exitCode: EXIT_CODE.suspended, message }, use);
  }
  // The script must not continue.
  await delay(END_MS);
  return EXIT_CODE.suspended;
}
