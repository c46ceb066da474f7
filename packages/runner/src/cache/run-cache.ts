import type { Fingerprint } from '@sluice/core';
import {
  createLookup,
  createReusableRun,
  isCollecting,
  isWithinReach,
  type LookedUp,
  type ReusableRun,
  readCacheIndex,
  readCustody,
  replayFromHome,
  runDirectory,
} from '@sluice/home';
import type { CacheMiss, CacheSource, Command, MissReason, SchedulerEvent } from '@sluice/run';
import type { WorkspaceFiles } from '../data/prepare-volumes.ts';
import type { Attempt } from '../session/attempt.ts';
import type { Posted } from '../session/posted.ts';
import type { RunSession } from '../session/run-session.ts';
import { type HeldResults, sizeOfJson } from '../session/run-usage.ts';
import { warn } from '../session/warn.ts';
import { createHit } from './create-hit.ts';
import { createDataCheck, type DataCheck, otherOutputs } from './data-check.ts';
import { findRemovedInput } from './find-removed-input.ts';
import { hasTemporaryOutputs } from './find-restored.ts';
import { predictReuse, type ReusePrediction } from './predict-reuse.ts';
import type { SuccessCheck } from './simulate-reuse.ts';
import { createSuccessRecorder } from './success-recorder.ts';

/** A run's access to the home's cache. */
export interface RunCache {
  /**
   * Reads the successes of earlier runs, and finds those whose removed temporary outputs the run will need. To be called before
   * the first lookup.
   */
  open(): Promise<void>;
  /**
   * Looks for an earlier success with the same fingerprint whose data still exists. Returns the event at once if no data
   * has to be checked, so that a chain of reused steps takes one turn; otherwise it posts the event later.
   */
  lookUp(command: Extract<Command, { type: 'lookUp' }>): Posted | undefined;
  /** Why an attempt cannot start: a reused cell whose temporary output it mounts no longer has it. */
  findRemoved(attempt: Pick<Attempt, 'at'>): Promise<string | undefined> | undefined;
  /** Records successes. */
  onEvent(event: SchedulerEvent): void;
  /** Resolves when all successes are written. */
  idle(): Promise<void>;
}

/** What is known of earlier successes. */
type Records = Parameters<typeof createLookup>[1];

/** The cache of a run, as its functions share it. */
interface CacheState {
  readonly findFault: SuccessCheck;
  records: Records;
  lookUp: ReturnType<typeof createLookup>;
  /** Absent: nothing has to be predicted. */
  prediction?: ReusePrediction;
}

/** Before `open`, the cache is empty. */
export function createRunCache(session: RunSession, workspace: WorkspaceFiles): RunCache {
  const { clock, plan, disk, home } = session;
  const check = createDataCheck(session, workspace);
  const findFault = createSuccessCheck(session, check);
  const successes = createSuccessRecorder(session);
  const empty: Records = { earlier: undefined, index: { list: () => [], latest: () => undefined }, now: clock.wall };
  const state: CacheState = { findFault, records: empty, lookUp: createLookup(session, empty) };
  return {
    async open() {
      const index = plan.steps.some(({ step }) => step.cache) ? await readCacheIndex(disk, home) : empty.index;
      const records = { ...empty, index, earlier: await openReusedRun(session) };
      state.records = records;
      state.lookUp = createLookup(session, records);
      if (mayReuse(session) && hasTemporaryOutputs(plan))
        state.prediction = await predictReuse(session, { records, findFault, hasTemporary: check.hasTemporary });
    },
    lookUp({ step, cell }) {
      const predicted = state.prediction?.find(step, cell);
      if (predicted) return reuse(session, state, { step, cell, source: predicted });
      const looked = state.lookUp(step, cell);
      if (looked.kind === 'unevaluated') {
        if (looked.isOfKey) warnOfKey(session, step, looked.message);
        return { event: { type: 'cacheMissed', at: clock.now(), step, cell } };
      }
      if (looked.kind === 'found') return reuse(session, state, { step, cell, source: looked.source });
      return miss(session, state, { step, cell, why: looked });
    },
    findRemoved: ({ at }) => findRemovedInput(session, at, check.hasTemporary),
    onEvent(event) {
      state.prediction?.onEvent(event);
      // A step without outputs and results succeeds with the end of its container; nothing is published.
      if (event.type !== 'published' && event.type !== 'ended') return;
      const { step, cell } = event;
      if (plan.steps[step]!.step.cache) successes.add(step, cell);
    },
    idle: successes.idle,
  };
}

/** Reuses the success if its data exists and is not needed again. */
function reuse(
  session: RunSession,
  state: CacheState,
  { step, cell, source }: { readonly step: number; readonly cell: number; readonly source: CacheSource },
): Posted | undefined {
  const { prediction, findFault } = state;
  const at = session.clock.now();
  const missFor = (reason: MissReason, restores?: CacheSource) => {
    const fingerprint = fingerprintOf(state.lookUp(step, cell));
    return miss(session, state, { step, cell, why: { fingerprint, reason, ...(restores && { restores }) } });
  };
  const found = findFault(step, source);
  if (typeof found === 'string') return missFor(found);
  const { key } = session.facts.cells[step]![cell]!;
  if (prediction?.restored.get(step)?.has(key)) return missFor('removed', source);
  const held = hold(session, step, source);
  const answer = (reason?: MissReason): Posted => {
    const hit = reason === undefined && held ? createHit(session, { at, step, cell }, source) : undefined;
    if (hit?.ok) return hit.value;
    held?.release();
    if (reason !== undefined) return missFor(reason);
    prediction?.distrust();
    return { event: { type: 'cacheMissed', at, step, cell } };
  };
  if (held === undefined || found === undefined) return answer();
  void found
    .then(answer)
    .then(({ event, facts: recorded }) => session.post(event, recorded))
    .catch(session.fail);
  return undefined;
}

/** Of a cell of which a success was found. */
function fingerprintOf(looked: LookedUp): Fingerprint {
  if (looked.kind === 'unevaluated') throw new Error(`cannot identify a cell that was found: ${looked.message}`);
  return looked.fingerprint;
}

type Miss = Pick<Extract<LookedUp, { kind: 'missed' }>, 'fingerprint' | 'reason'> & Pick<CacheMiss, 'restores'>;

function miss(
  session: RunSession,
  { prediction, records: { earlier, index } }: CacheState,
  { step, cell, why }: { readonly step: number; readonly cell: number; readonly why: Miss },
): Posted {
  const { clock, facts, plan } = session;
  // What comes after it will differ, unless it is computed again.
  if (why.restores === undefined && prediction?.find(step, cell)) prediction.distrust();
  const key = facts.cells[step]?.[cell]?.key ?? '';
  const name = { pipeline: plan.pipeline.name, step: plan.steps[step]!.step.name, cell: key };
  // A success in a volume that this run cannot use explains nothing.
  const isUsable = ({ volumeID }: { readonly volumeID: string }) => isWithinReach(session, { step, volumeID });
  const latest = earlier?.has(name.step, key) ? earlier.runId : index.latest(name, isUsable)?.runId;
  const { digest, components } = why.fingerprint;
  const missed = {
    ...{ fingerprint: digest, components, reason: why.reason },
    ...(latest !== undefined && { latest }),
    ...(why.restores && { restores: why.restores }),
  };
  return { event: { type: 'cacheMissed', at: clock.now(), step, cell }, facts: { missed } };
}

/** Answers at once if no data has to be examined. */
function createSuccessCheck({ redactor, plan }: RunSession, check: DataCheck): SuccessCheck {
  return (step, source) => {
    const hasSecret = Object.values(source.results).some((value) => redactor.findSecret(value) !== undefined);
    if (hasSecret) return 'secret';
    return otherOutputs(plan, step).length > 0 ? check.findFault(step, source) : undefined;
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

function mayReuse({ plan, facts }: RunSession): boolean {
  return facts.header?.reuse !== undefined || plan.steps.some(({ step }) => step.cache);
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
