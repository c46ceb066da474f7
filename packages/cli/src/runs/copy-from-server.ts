import { fail, ok, type Result } from '@sluice/core';
import { isRunId } from '@sluice/home';
import type { RunServer } from '../connect/run-server.ts';
import { createMirror } from './mirror-run.ts';

/** The newest runs of a server, in which a prefix is searched. */
const SEARCHED = 100;

interface WantedRun {
  readonly home: string;
  /** Of the ID of the run. */
  readonly prefix: string;
  readonly server: RunServer;
  /** With which the user has chosen the server. */
  readonly profile?: string | undefined;
}

/** Copies the run of a server whose ID starts with `prefix` to a home. Undefined: there is none, or several. */
export async function copyFromServer({
  home,
  prefix,
  server,
  profile,
}: WantedRun): Promise<Result<string | undefined, string>> {
  if (!(await server.isAvailable())) return ok(undefined);
  const listed = (await server.list(SEARCHED)).map(({ runId }) => runId);
  const fitting = listed.filter((runId) => runId.startsWith(prefix));
  const runId = fitting.length === 1 ? fitting[0]! : prefix;
  if (fitting.length === 0 || !isRunId(runId)) return ok(undefined);
  const { clusterID: cluster, accountID: account } = server.scope;
  const place = { service: server.url, cluster, account, ...(profile !== undefined && { profile }) };
  const made = await createMirror({ home, runId, server }, place);
  return made.ok ? ok(runId) : fail(made.error);
}
