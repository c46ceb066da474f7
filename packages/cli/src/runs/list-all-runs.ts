import { isServiceError } from '@sluice/client';
import { listRuns, placeOf, readCustody, runCustody } from '@sluice/home';
import { matchesFilter, newestFirst, type RunFilter, type RunSummary } from '@sluice/run';
import type { RunServer, ServerRun } from '../connect/run-server.ts';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { wholeMessage } from '../context/command-rejection.ts';
import { printWarning } from '../context/print-warning.ts';
import { serverOptions } from './server-options.ts';
import { summarizeServerRun } from './summarize-server-run.ts';

/** A server that does not reply within this time is left out, with a warning. */
const REPLY_MS = 5_000;
const LISTED = 100;

/** Runs, newest first. */
interface ListedRuns {
  readonly runs: readonly RunSummary[];
  /** The IDs of those that a server has listed. */
  readonly onServer: ReadonlySet<string>;
  /** How many more there are. */
  readonly omitted: number;
}

/**
 * The runs of the home and of the service that the user names, newest first. The status of a run that a server executes
 * is the one that the server reports.
 */
export async function listAllRuns(
  home: string,
  {
    context,
    options,
    limit,
    filter,
  }: {
    readonly context: CommandContext;
    readonly options: GlobalOptions;
    readonly limit?: number | undefined;
    /** Absent: all are wanted. */
    readonly filter?: RunFilter | undefined;
  },
): Promise<ListedRuns> {
  const local = await listRuns(home);
  const servers = await Promise.all(
    local.map(async ({ runId, endedAt }) =>
      // A run with a damaged custody is listed, too.
      endedAt === undefined ? readCustody(runCustody(home, runId)).then(placeOf, () => undefined) : undefined,
    ),
  );
  const hosted = servers.flatMap((place) => (place !== undefined ? [serverOptions(options, place)] : []));
  const places = new Map([options, ...hosted].map((one) => [describePlace(one), one]));
  const runs = new Map(local.map((run) => [run.runId, run]));
  const theirs = new Set(local.flatMap(({ runId }, index) => (servers[index] !== undefined ? [runId] : [])));
  const onServer = new Set<string>();
  for (const place of places.values()) {
    for (const run of await listPlace(place, context, filter === undefined ? (limit ?? LISTED) : undefined)) {
      if (runs.has(run.runId) && !theirs.has(run.runId)) continue;
      runs.set(run.runId, summarizeServerRun(run));
      onServer.add(run.runId);
    }
  }
  const wanted = [...runs.values()].filter((run) => filter === undefined || matchesFilter(run, filter));
  const all = wanted.sort(newestFirst);
  const shown = all.slice(0, limit);
  return { runs: shown, onServer, omitted: all.length - shown.length };
}

function describePlace({ service, cluster, account, profile }: GlobalOptions): string {
  return JSON.stringify([service, cluster, account, profile]);
}

/** Empty if the service executes no runs. */
async function listPlace(
  options: GlobalOptions,
  context: CommandContext,
  count: number | undefined,
): Promise<readonly ServerRun[]> {
  const { chooseService } = await import('../connect/choose-service.ts');
  const chosen = chooseService(options, context);
  if (!chosen.ok) return [];
  const { url } = chosen.value;
  if (url === undefined) return [];
  const warn = (problem: string) => {
    printWarning(context.terminal, `could not list the runs of ${url}: ${problem}`);
    return [];
  };
  const { openChosenService } = await import('../connect/open-chosen-service.ts');
  const opened = await openChosenService({ ...chosen.value, url }, { options, context });
  if (!opened.ok) return warn(wholeMessage(opened.error));
  const { runServer, close } = opened.value;
  try {
    return await listNewest(runServer, count);
  } catch (error) {
    if (!isServiceError(error)) throw error;
    return warn(error.message);
  } finally {
    await close();
  }
}

/** The newest `count` runs, or all. */
async function listNewest(server: RunServer, count: number | undefined): Promise<readonly ServerRun[]> {
  const signal = AbortSignal.timeout(REPLY_MS);
  if (!(await server.isAvailable(signal))) return [];
  return count === undefined ? server.listAll() : server.list(count, signal);
}
