import type { CommandContext, GlobalOptions, ServiceContext } from '../context/command-context.ts';
import { EXIT_CODE, type ExitCode } from '../context/exit-code.ts';
import { suggestCommand } from '../context/suggest-command.ts';
import { renderValue } from '../json/render-value.ts';
import { plainLine } from '../text/plain-line.ts';

/** A run of a home, and the command that hands it over. */
export interface RunToHand {
  readonly home: string;
  readonly runId: string;
  readonly context: ServiceContext;
  readonly options: GlobalOptions;
}

/** Where a run continues that a command does not execute itself. `none`: it has ended meanwhile. */
export type HandedRun = { readonly runId: string } & (
  | { readonly to: 'host'; readonly pid: number }
  /** `page` shows the run; absent without a dashboard. */
  | { readonly to: 'server'; readonly url: string; readonly page?: string }
  | { readonly to: 'none' }
);

/** A run that a job of Slurm executes; `log` has the output of the job. */
export interface RunInJob {
  readonly runId: string;
  readonly to: 'job';
  readonly jobId: string;
  readonly log: string;
}

/** Prints where a run continues, and how to follow it. */
export function announceHanded(
  handed: HandedRun | RunInJob,
  { context: { terminal }, options }: { context: CommandContext; options: GlobalOptions },
): ExitCode {
  const { runId } = handed;
  const print = (value: object, ...lines: string[]) => {
    if (options.json === true) terminal.out(renderValue('detached', { runId, ...value }));
    else for (const line of lines) terminal.out(`${line}\n`);
    return EXIT_CODE.ok;
  };
  if (handed.to === 'none') {
    return print(
      {},
      `run ${runId} no longer needs a process; show it with: ${suggestCommand(['show', runId], options)}`,
    );
  }
  const follow = `follow it with: ${suggestCommand(['attach', runId], options)}`;
  if (handed.to === 'host') {
    return print({ hostPid: handed.pid }, `run ${runId} continues in the background (process ${handed.pid})`, follow);
  }
  if (handed.to === 'job') {
    const { jobId, log } = handed;
    const job = `show the job with: squeue --job=${jobId}; its output is in ${log}`;
    const where = `run ${runId} continues in job ${jobId} of Slurm, and is suspended until the job starts`;
    return print({ job: jobId, log }, where, follow, job);
  }
  const page = handed.page === undefined ? undefined : plainLine(handed.page);
  const where = `run ${runId} continues on ${handed.url}${page === undefined ? '' : `: ${page}`}`;
  return print({ url: page ?? handed.url }, where, follow);
}
