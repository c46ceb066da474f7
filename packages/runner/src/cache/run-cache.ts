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
import type { CacheMiss, CacheSource, Command, SchedulerEvent } from '@sluice/run';
import type { WorkspaceFiles } from '../data/prepare-volumes.ts';
import type { Attempt } from '../session/attempt.ts';
import type { Posted } from '../session/posted.ts';
import type { RunSession } from '../session/run-session.ts';
import { type HeldResults, sizeOfJson } from '../session/run-usage.ts';
import { warn } from '../session/warn.ts';
import { createDataCheck, type DataCheck, otherOutputs } from './data-check.ts';
import { findRemovedInput } from './find-removed-input.ts';
import { findRestored, hasTemporaryOutputs, type RestoredCells } from './find-restored.ts';
import { createSimulatedRun, type SuccessCheck, simulateReuse } from './simulate-reuse.ts';
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

type Found = Extract<LookedUp, { kind: 'found' }>;

/** What is known of earlier successes. */
type Records = Parameters<typeof createLookup>[1];

/** Before `open`, the cache is empty. */
export function createRunCache(session: RunSession, workspace: WorkspaceFiles): RunCache {
  const { clock, plan, disk, home } = session;
  const check = createDataCheck(session, workspace);
  const findFault = createSuccessCheck(session, check);
  const successes = createSuccessRecorder(session);
  let records: Records = { earlier: undefined, index: { list: () => [], latest: () => undefined }, now: clock.wall };
  let lookUp = createLookup(session, records);
  let restored: RestoredCells = new Map();
  const miss = (step: number, cell: number, why: Miss) => missOf(session, records, { step, cell, why });

  /** Reuses the success if its data exists and is not needed again. */
  function reuse(step: number, cell: number, { source, fingerprint }: Found): Posted | undefined {
    const found = findFault(step, source);
    if (typeof found === 'string') return miss(step, cell, { fingerprint, reason: found });
    if (restored.get(step)?.has(cell)) return miss(step, cell, { fingerprint, reason: 'removed', restores: source });
    const hit: Posted = { event: { type: 'cacheHit', at: clock.now(), step, cell }, facts: { cached: source } };
    const held = hold(session, step, source);
    if (held === undefined) return { event: { type: 'cacheMissed', at: clock.now(), step, cell } };
    if (found === undefined) return hit;
    void found
      .then((reason) => {
        if (reason !== undefined) held.release();
        return reason === undefined ? hit : miss(step, cell, { fingerprint, reason });
      })
      .then(({ event, facts: recorded }) => session.post(event, recorded))
      .catch(session.fail);
    return undefined;
  }

  return {
    async open() {
      const index = plan.steps.some(({ step }) => step.cache) ? await readCacheIndex(disk, home) : records.index;
      records = { ...records, index, earlier: await openReusedRun(session) };
      lookUp = createLookup(session, records);
      if (mayReuse(session) && hasTemporaryOutputs(plan))
        restored = await predictRestored(session, { records, findFault, check });
    },
    lookUp({ step, cell }) {
      const looked = lookUp(step, cell);
      if (looked.kind === 'unevaluated') {
        if (looked.isOfKey) warnOfKey(session, step, looked.message);
        return { event: { type: 'cacheMissed', at: clock.now(), step, cell } };
      }
      return looked.kind === 'found' ? reuse(step, cell, looked) : miss(step, cell, looked);
    },
    findRemoved: ({ at }) => findRemovedInput(session, at, check.hasTemporary),
    onEvent(event) {
      // A step without outputs and results succeeds with the end of its container; nothing is published.
      if (event.type !== 'published' && event.type !== 'ended') return;
      const { step, cell } = event;
      if (plan.steps[step]!.step.cache) successes.add(step, cell);
    },
    idle: successes.idle,
  };
}

/** Simulates the run: the outputs that its containers will mount must exist. */
async function predictRestored(
  session: RunSession,
  of: { readonly records: Records; readonly findFault: SuccessCheck; readonly check: DataCheck },
): Promise<RestoredCells> {
  const run = createSimulatedRun(session, session.facts);
  const lookUp = createLookup(run, of.records);
  await simulateReuse(run, { lookUp, findFault: of.findFault, clock: session.clock });
  return findRestored(run, of.check.hasTemporary);
}

type Miss = Pick<Extract<LookedUp, { kind: 'missed' }>, 'fingerprint' | 'reason'> & Pick<CacheMiss, 'restores'>;

function missOf(
  session: RunSession,
  { earlier, index }: Records,
  { step, cell, why }: { readonly step: number; readonly cell: number; readonly why: Miss },
): Posted {
  const { clock, facts, plan } = session;
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
