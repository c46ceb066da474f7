import {
  type CacheIndex,
  createLookup,
  createReusableRun,
  hasOutputs,
  isCollecting,
  isWithinReach,
  type LookedUp,
  type ReusableRun,
  readCacheIndex,
  readCustody,
  replayFromHome,
  runDirectory,
} from '@sluice/home';
import type { CacheSource, Command, SchedulerEvent } from '@sluice/run';
import type { WorkspaceFiles } from '../data/prepare-volumes.ts';
import type { Posted } from '../session/posted.ts';
import type { RunSession } from '../session/run-session.ts';
import { type HeldResults, sizeOfJson } from '../session/run-usage.ts';
import { warn } from '../session/warn.ts';
import { createDataCheck } from './data-check.ts';
import { createSuccessRecorder } from './success-recorder.ts';

/** A run's access to the home's cache. */
export interface RunCache {
  /** Reads the successes of earlier runs. To be called before the first lookup. */
  open(): Promise<void>;
  /**
   * Looks for an earlier success with the same fingerprint whose data still exists. Returns the event at once if no data
   * has to be checked, so that a chain of reused steps takes one turn; otherwise it posts the event later.
   */
  lookUp(command: Extract<Command, { type: 'lookUp' }>): Posted | undefined;
  /** Records successes. */
  onEvent(event: SchedulerEvent): void;
  /** Resolves when all successes are written. */
  idle(): Promise<void>;
}

type Found = Extract<LookedUp, { kind: 'found' }>;

/** Before `open`, the cache is empty. */
export function createRunCache(session: RunSession, workspace: WorkspaceFiles): RunCache {
  const { clock, facts, plan, disk, home } = session;
  const findFault = createDataCheck(session, workspace);
  const successes = createSuccessRecorder(session);
  let earlier: ReusableRun | undefined;
  let index: CacheIndex = { list: () => [], latest: () => undefined };
  let lookUp = createLookup(session, { earlier, index, now: clock.wall });

  /** Reuses the success if its data exists. */
  function reuse(step: number, cell: number, { source, fingerprint }: Found): Posted | undefined {
    const hasSecret = Object.values(source.results).some((value) => session.redactor.findSecret(value) !== undefined);
    if (hasSecret) return miss(step, cell, { fingerprint, reason: 'secret' });
    const hit: Posted = { event: { type: 'cacheHit', at: clock.now(), step, cell }, facts: { cached: source } };
    const held = hold(session, step, source);
    if (held === undefined) return { event: { type: 'cacheMissed', at: clock.now(), step, cell } };
    if (!hasOutputs(session, step)) return hit;
    void findFault(step, source)
      .then((reason) => {
        if (reason !== undefined) held.release();
        return reason === undefined ? hit : miss(step, cell, { fingerprint, reason });
      })
      .then(({ event, facts: recorded }) => session.post(event, recorded))
      .catch(session.fail);
    return undefined;
  }

  function miss(step: number, cell: number, why: Omit<Extract<LookedUp, { kind: 'missed' }>, 'kind'>): Posted {
    const key = facts.cells[step]?.[cell]?.key ?? '';
    const name = { pipeline: plan.pipeline.name, step: plan.steps[step]!.step.name, cell: key };
    // A success in a volume that this run cannot use explains nothing.
    const isUsable = ({ volumeID }: { readonly volumeID: string }) => isWithinReach(session, { step, volumeID });
    const latest = earlier?.has(name.step, key) ? earlier.runId : index.latest(name, isUsable)?.runId;
    const { digest, components } = why.fingerprint;
    const missed = { fingerprint: digest, components, reason: why.reason, ...(latest !== undefined && { latest }) };
    return { event: { type: 'cacheMissed', at: clock.now(), step, cell }, facts: { missed } };
  }

  return {
    async open() {
      if (plan.steps.some(({ step }) => step.cache)) index = await readCacheIndex(disk, home);
      earlier = await openReusedRun(session);
      lookUp = createLookup(session, { earlier, index, now: clock.wall });
    },
    lookUp({ step, cell }) {
      const looked = lookUp(step, cell);
      if (looked.kind === 'unevaluated') {
        if (looked.isOfKey) warnOfKey(session, step, looked.message);
        return { event: { type: 'cacheMissed', at: clock.now(), step, cell } };
      }
      return looked.kind === 'found' ? reuse(step, cell, looked) : miss(step, cell, looked);
    },
    onEvent(event) {
      // A step without outputs and results succeeds with the end of its container; nothing is published.
      if (event.type !== 'published' && event.type !== 'ended') return;
      const { step, cell } = event;
      if (plan.steps[step]!.step.cache) successes.add(step, cell);
    },
    idle: successes.idle,
  };
}

/** Counts the results of a success that is reused. Undefined: there are too many, which the user is warned of. */
function hold(session: RunSession, step: number, { runId, results }: CacheSource): HeldResults | undefined {
  const held = session.usage.holdResults();
  const excess = held.take(sizeOfJson(results));
  if (excess === undefined) return held;
  warn(session, `could not reuse step ${session.plan.steps[step]!.step.name} of run ${runId}: ${excess}`);
  return undefined;
}

function warnOfKey(session: RunSession, step: number, cause: string): void {
  const { name } = session.plan.steps[step]!.step;
  const message = `could not look up step ${name} in the cache: ${cause}; correct its cache.key`;
  warn(session, message);
}

/** The run that this run reuses. If it cannot be used, all steps are run, and the user is warned. */
async function openReusedRun(session: RunSession): Promise<ReusableRun | undefined> {
  const { facts, disk, home } = session;
  const { reuse } = facts.header ?? {};
  if (reuse === undefined) return undefined;
  const replayed = await replayFromHome(disk, home, reuse.runId);
  // Checked after this run's first record is durable, which says that it needs that run.
  const isMarked = isCollecting(await readCustody({ disk, directory: runDirectory(home, reuse.runId) }));
  if (replayed.ok && !isMarked) return createReusableRun(replayed.value);
  const why = isMarked || replayed.ok ? 'it is being removed as garbage' : replayed.error.message;
  const message = `could not reuse run ${reuse.runId}: ${why}; all steps are run`;
  warn(session, message);
  return undefined;
}
