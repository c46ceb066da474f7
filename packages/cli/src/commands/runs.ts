import { DURATION, describeUnknown, fail, ok, parseDuration, type Result, renderDuration } from '@sluice/core';
import { readExecutors } from '@sluice/host';
import { RUN_PHASES, type RunFilter, type RunPhase, tookMs } from '@sluice/run';
import { z } from 'zod';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import type { CommandError } from '../context/command-rejection.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { reject } from '../context/reject.ts';
import { findHome } from '../home/home.ts';
import { createHostWaitReporter } from '../hosting/report-host-wait.ts';
import { renderRun } from '../json/render-run.ts';
import { listAllRuns } from '../runs/list-all-runs.ts';
import { renderTable } from '../text/render-table.ts';
import { renderTimestamp } from '../text/render-timestamp.ts';

/** Options of `sluice runs`. */
export interface RunsOptions extends GlobalOptions {
  /** Default: `SHOWN` in a table, all as JSON. */
  readonly limit?: number;
  readonly all?: boolean;
  readonly status?: readonly string[];
  readonly pipeline?: string;
  readonly label?: readonly string[];
  /** A duration before now, or an RFC 3339 date with or without a time. */
  readonly since?: string;
}

/** A table of more runs would scroll the newest ones away. */
const SHOWN = 50;

/** `sluice runs`: one line per run, newest first. */
export async function runs(context: CommandContext, options: RunsOptions): Promise<number> {
  const { terminal } = context;
  const home = findHome(context, options);
  const filter = readFilter(options);
  if (!filter.ok) return reject(filter.error, { context, options });
  const limit = options.limit ?? (options.all === true || options.json === true ? undefined : SHOWN);
  const listed = await listAllRuns(home, { context, options, limit, filter: filter.value });
  const { runs: found, onServer, omitted } = listed;
  const local = await readExecutors(home, found, { onWait: createHostWaitReporter(terminal, home) });
  const executors = found.map(({ runId, status }, index) =>
    onServer.has(runId) && (status === 'running' || status === 'waiting') ? 'server' : local[index]!,
  );
  if (options.json === true) {
    for (const [index, run] of found.entries()) terminal.out(renderRun(run, executors[index]!));
    return EXIT_CODE.ok;
  }
  if (found.length === 0) {
    terminal.err(`no runs in ${home}${filter.value === undefined ? '' : ' that match'}`);
    return EXIT_CODE.ok;
  }
  const rows = found.map((run, index) => [
    run.runId,
    run.pipeline,
    run.status,
    executors[index] === 'none' ? '-' : executors[index]!,
    renderTimestamp(run.createdAt).slice(0, 'YYYY-MM-DD hh:mm:ss'.length),
    run.endedAt === undefined ? '-' : renderDuration(tookMs(run, run.endedAt)),
    run.problem ?? '',
  ]);
  terminal.out(renderTable([['RUN', 'PIPELINE', 'STATUS', 'EXECUTOR', 'CREATED', 'TOOK', ''], ...rows]));
  if (omitted > 0 && options.limit === undefined)
    terminal.err(`${omitted} older ${omitted === 1 ? 'run is' : 'runs are'} not shown; show all with --all`);
  return EXIT_CODE.ok;
}

/** Undefined: the options select nothing. */
function readFilter({ status, pipeline, label, since }: RunsOptions): Result<RunFilter | undefined, CommandError> {
  if ([status, pipeline, label, since].every((option) => option === undefined)) return ok(undefined);
  const rejection = (message: string) => fail({ exitCode: EXIT_CODE.rejected, code: 'USAGE', message });
  const unknown = status?.find((word) => !isPhase(word));
  if (unknown !== undefined)
    return rejection(`could not list runs with the status ${describeUnknown(unknown, RUN_PHASES)}`);
  const createdAfter = since === undefined ? undefined : readTime(since);
  if (Number.isNaN(createdAfter))
    return rejection(`could not list runs since ${since}: write a duration such as 7d, or a date such as 2026-11-27`);
  return ok({
    ...(status && { statuses: status.filter(isPhase) }),
    ...(pipeline !== undefined && { pipeline }),
    ...(label && { labels: label }),
    ...(createdAfter !== undefined && { createdAfter }),
  });
}

function isPhase(word: string): word is RunPhase {
  return (RUN_PHASES as readonly string[]).includes(word);
}

/** Milliseconds since the Unix epoch, of the beginning of a day in the local time zone; NaN for other texts. */
function readTime(text: string): number {
  if (DURATION.test(text)) return Date.now() - parseDuration(text);
  if (/^\d{4}-\d\d-\d\d$/.test(text)) return Date.parse(`${text}T00:00`);
  return DATE_TIME.safeParse(text).success ? Date.parse(text) : Number.NaN;
}

const DATE_TIME = z.iso.datetime({ offset: true });
