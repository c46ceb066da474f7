import { keepEnd } from '@sluice/home';
import { createReport, endMessage, type RunStatus } from '@sluice/run';
import { deliverOutputs } from '../data/deliver-outputs.ts';
import { warnOfEmptyOutputs } from '../data/warn-of-empty-outputs.ts';
import type { RunSession } from '../session/run-session.ts';
import { endLeftContainers } from './end-left-containers.ts';
import type { ExecuteOptions } from './execute-options.ts';
import { notify } from './notify.ts';
import type { RunLife } from './run-life.ts';
import type { RunParts } from './run-parts.ts';

/** What finishing a run needs in addition to its session. */
export interface FinishParts
  extends Pick<RunParts, 'archive' | 'cache' | 'pools' | 'preparation' | 'removal' | 'traces'> {
  readonly life: RunLife;
  readonly start: ExecuteOptions;
}

/** The outputs with `publish`, for the machine that has their directories. */
function leavePending({ plan }: RunSession): { outputs: Readonly<Record<string, string>>; pending: readonly string[] } {
  const wanted = Object.entries(plan.pipeline.outputs).filter(([, { publish }]) => publish !== undefined);
  return { outputs: {}, pending: wanted.map(([name]) => name) };
}

/**
 * Ends a run that has nothing left to do: ends what an adoption has found and the run has not reached, delivers the
 * outputs, sends the notifications, makes the end durable, and only then sends the rest of the trace and stores the
 * report.
 */
export async function finishRun(
  session: RunSession,
  { archive, cache, pools, preparation, removal, traces, life, start }: FinishParts,
  status: RunStatus,
): Promise<void> {
  const { facts, scheduler, directory, disk, home, clock } = session;
  if (facts.adopted !== undefined) await endLeftContainers(session);
  await archive.idle();
  await cache.idle();
  const removing = removal?.idle();
  if (removing) await removing;
  const rest = preparation.finish();
  if (rest) await rest;
  const looked = status === 'succeeded' ? warnOfEmptyOutputs(session, start.workspace) : undefined;
  if (looked) await looked;
  const delivery =
    start.opened.isReceived || start.options.delivers === false
      ? leavePending(session)
      : await deliverOutputs(session, start.workspace);
  session.note({ kind: 'delivered', at: clock.now(), ...delivery });
  await notify(session, status, start.options.notifier);
  session.note({ kind: 'finished', at: clock.now(), status });
  await session.durable();
  const report = createReport({ facts, scheduler, directory }, status, endMessage(facts, status));
  life.end(report);
  await pools.close();
  // Before the summary, without which the run is resumed to conclude it.
  await traces?.finish();
  await life.store(() => keepEnd({ disk, home, directory, facts, scheduler }, { report, now: clock.now() }));
  await life.conclude();
}
