import { fail, type Result, SluiceError } from '@sluice/core';
import type { RunReport } from '@sluice/run';
import type { AttachedRun } from '@sluice/runner';
import type { RunServer } from '../connect/run-server.ts';
import { followServer } from '../runs/follow-server.ts';
import { describeLostRun } from '../runs/lost-run.ts';
import { updateMirror } from '../runs/mirror-run.ts';
import { publishHere } from '../runs/publish-here.ts';
import type { Connection } from './connection.ts';
import { attempt, type SluiceErrorCode, unwrap } from './error-code.ts';
import { openServerOf, type ServerRun } from './open-server-of.ts';
import { warn } from './program-context.ts';

interface FollowedRun extends ServerRun {
  /** Attaches to the copy of the run. */
  readonly follow: () => Promise<Result<AttachedRun, SluiceError<SluiceErrorCode>>>;
}

/**
 * Follows the copy of a run, which is kept up to date meanwhile. At its end, its outputs are copied to this machine. Throws
 * `SluiceError`.
 */
export async function followServerRun(run: FollowedRun): Promise<AttachedRun> {
  const { home, runId } = run;
  const { opened, server, close } = await openServerOf(run, 'attach to');
  try {
    unwrap(await attempt(() => bringUpToDate({ home, runId, server })));
    const attached = unwrap(await run.follow());
    return { ...attached, finished: follow(attached, { ...run, opened, server }).finally(close) };
  } catch (error) {
    await close();
    throw error;
  }
}

async function bringUpToDate(mirror: Parameters<typeof updateMirror>[0]): Promise<Result<void, SluiceError<'SYSTEM'>>> {
  const updated = await updateMirror(mirror);
  if (updated.ok) return updated;
  return fail(new SluiceError('SYSTEM', `could not copy run ${mirror.runId}: ${updated.error}`));
}

async function follow(
  attached: AttachedRun,
  { home, runId, place, opened, server }: FollowedRun & { readonly opened: Connection; readonly server: RunServer },
): Promise<RunReport> {
  const stop = new AbortController();
  const onProblem = (problem: string) => warn(`${problem}; trying again`);
  const followed = followServer({ home, runId, server, signal: stop.signal, onProblem }).then((result) => {
    if (result !== 'followed') attached.stop();
    return result;
  });
  const report = await attached.finished;
  stop.abort();
  const result = await followed;
  if (result === 'lost')
    throw new SluiceError('RUN_NOT_FOUND', `could not follow run ${runId}: ${describeLostRun(server.url)}`);
  if (report.endedAt === undefined || place.publish === undefined) return report;
  const given = { home, service: opened.service, directories: place.publish, onWarning: warn };
  return unwrap(await attempt(() => publishHere(report, given)));
}
