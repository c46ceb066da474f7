import { isServiceError } from '@sluice/client';
import { fail, ok, type Result } from '@sluice/core';
import { listRuns, readCustody, runCustody, type ServerPlace, placeOf as serverOf } from '@sluice/home';
import { type RunsElsewhere, readServerRun, type UnknownAccount } from '@sluice/runner';
import type { HomeService } from '../connect/open-service.ts';
import { openService } from '../connect/open-service.ts';
import type { RunServer, ServerRun } from '../connect/run-server.ts';
import type { GlobalOptions, ServiceContext } from '../context/command-context.ts';
import { wholeMessage } from '../context/command-rejection.ts';
import { isLostRun } from './lost-run.ts';
import { isRemoved } from './record-removal.ts';
import { serverOptions } from './server-options.ts';
import { summarizeServerRun } from './summarize-server-run.ts';

/** Runs whose files are requested at once. */
const AT_ONCE = 8;

interface Asking {
  readonly opened: Pick<HomeService, 'home' | 'runServer'>;
  readonly context: ServiceContext;
  readonly options: GlobalOptions;
}

/** What the home knows of its runs. */
interface KnownRuns {
  /** Those that need not be read from a server, since no server adds to them. */
  readonly complete: ReadonlySet<string>;
  /** One for each account on a server that has received runs. */
  readonly marks: readonly ServerPlace[];
  /** The accounts, as `placeOf`, with runs that a server may be executing. */
  readonly open: ReadonlySet<string>;
}

/**
 * Reads the runs that servers have and the home does not, or not completely: on the service of the command, and on every
 * server that has received a run of the home.
 */
export async function readRunsElsewhere({ opened, context, options }: Asking): Promise<RunsElsewhere> {
  const known = await readKnown(opened.home);
  const own = opened.runServer;
  const found = own === undefined ? [] : [await readPlace(own, known)];
  for (const mark of known.marks) {
    if (own !== undefined && placeOf(mark) === placeOfServer(own)) continue;
    const remote = await openService(serverOptions(options, mark), context);
    if (!remote.ok) {
      found.push(unknownPlace(mark, wholeMessage(remote.error)));
      continue;
    }
    const { runServer, close } = remote.value;
    try {
      if (runServer !== undefined) found.push(await readPlace(runServer, known));
    } finally {
      await close();
    }
  }
  return { runs: found.flatMap(({ runs }) => runs), unknown: found.flatMap(({ unknown }) => unknown) };
}

async function readKnown(home: string): Promise<KnownRuns> {
  const complete = new Set<string>();
  const marks = new Map<string, ServerPlace>();
  const open = new Set<string>();
  for (const { runId, endedAt } of await listRuns(home)) {
    // A run with a damaged custody is kept as one that can be resumed.
    const mark = await readCustody(runCustody(home, runId)).then(serverOf, () => undefined);
    if (mark !== undefined) marks.set(placeOf(mark), mark);
    const isOpen = mark !== undefined && endedAt === undefined;
    if (isOpen) open.add(placeOf(mark));
    else complete.add(runId);
  }
  return { complete, marks: [...marks.values()], open };
}

function placeOf({ service, cluster, account }: Pick<ServerPlace, 'service' | 'cluster' | 'account'>): string {
  return JSON.stringify([service, cluster, account]);
}

function placeOfServer({ url, scope }: Pick<RunServer, 'url' | 'scope'>): string {
  return placeOf({ service: url, cluster: scope.clusterID, account: scope.accountID });
}

async function readPlace(server: RunServer, known: KnownRuns): Promise<RunsElsewhere> {
  const { url, scope } = server;
  const mark = { service: url, cluster: scope.clusterID, account: scope.accountID };
  try {
    if (await server.isAvailable()) {
      const runs = (await server.listAll()).filter(({ runId }) => !known.complete.has(runId));
      const read = await readRuns(server, runs);
      return read.ok ? { runs: read.value, unknown: [] } : unknownPlace(mark, read.error);
    }
  } catch (error) {
    if (!isServiceError(error)) throw error;
    return unknownPlace(mark, error.message);
  }
  // A service that has never executed a run of this home need not do so.
  return known.open.has(placeOf(mark)) ? unknownPlace(mark, 'it executes no runs any more') : { runs: [], unknown: [] };
}

function unknownPlace(
  { service, cluster, account }: Pick<ServerPlace, 'service' | 'cluster' | 'account'>,
  problem: string,
): RunsElsewhere {
  const unknown: UnknownAccount = { url: service, clusterID: cluster, accountID: account, problem };
  return { runs: [], unknown: [unknown] };
}

async function readRuns(server: RunServer, runs: readonly ServerRun[]): Promise<Result<RunsElsewhere['runs'], string>> {
  const found: RunsElsewhere['runs'][number][] = [];
  for (let start = 0; start < runs.length; start += AT_ONCE) {
    for (const read of await Promise.all(runs.slice(start, start + AT_ONCE).map((run) => readOne(server, run)))) {
      if (!read.ok) return read;
      if (read.value !== undefined) found.push(read.value);
    }
  }
  return ok(found);
}

/** Undefined: the server has removed the run since it was listed. */
async function readOne(
  server: RunServer,
  run: ServerRun,
): Promise<Result<RunsElsewhere['runs'][number] | undefined, string>> {
  try {
    const [plan, journal] = await Promise.all([server.readPlan(run.runId), server.readJournal(run.runId, 0)]);
    return readServerRun(summarizeServerRun(run), { plan, journal });
  } catch (error) {
    if (isRemoved(error) || isLostRun(error)) return ok(undefined);
    if (isServiceError(error)) return fail(error.message);
    throw error;
  }
}
