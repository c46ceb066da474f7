import type { SourceChange } from './plant-bug.ts';
import type { Mishap, Scenario } from './scenario.ts';

/** A bug that the simulation must find. */
export interface PlantedBug extends SourceChange {
  readonly name: string;
  /** Where it can show at all; absent: anywhere. The others would only take time. */
  readonly among?: (scenario: Scenario) => boolean;
  /** The seed that found it last: it comes first, and the others after it. */
  readonly seed?: number;
  /** Shows in one seed of ten thousand: it is looked for in the scenarios that failed once, and nowhere else. */
  readonly isRare?: boolean;
  /** Made for it: it is looked for in these scenarios, and nowhere else. */
  readonly within?: readonly Scenario[];
}

const hasPools = ({ pools }: Scenario) => Object.keys(pools).length > 0;
const isGrouped = ({ group }: Scenario) => group !== undefined;
const hasTwoClusters = ({ runs }: Scenario) => runs.some(({ steps }) => steps.some(({ clusters }) => clusters));
const hasForeach = ({ runs }: Scenario) => runs.some(({ steps }) => steps.some(({ foreach }) => foreach));
const hidesLabels = ({ dialect }: Scenario) => dialect.hidesLabels;
const hasTimes =
  (times: Scenario['dialect']['times']) =>
  ({ dialect }: Scenario) =>
    dialect.times === times;
const has = (kind: Mishap['kind']) => (scenario: Scenario) =>
  scenario.runs.some(({ mishaps }) => mishaps.some((mishap) => mishap.kind === kind));
const all =
  (...conditions: readonly ((scenario: Scenario) => boolean)[]) =>
  (scenario: Scenario) =>
    conditions.every((holds) => holds(scenario));

/** Proof that the checker bites: every one of these has cost somebody a run somewhere. */
export const PLANTED_BUGS: readonly PlantedBug[] = [
  {
    name: 'lets effects out before the journal is durable',
    seed: 21,
    file: 'run/run-loop.ts',
    find: '    kept.then(\n',
    replace: '    void kept.catch(() => {});\n    Promise.resolve().then(\n',
  },
  {
    name: 'takes for durable what is only written',
    file: 'run/run-loop.ts',
    find: 'effects.length === 0 && !decided ? journal.write() : commit()',
    replace: 'journal.write()',
  },
  {
    name: 'writes no intent before it creates',
    file: 'submission/submitter.ts',
    find: 'if (!isIntended && !shares) intend();',
    replace: '',
  },
  {
    name: 'takes a new ID after a 404',
    file: 'submission/submit-attempt.ts',
    find: "    if (isServiceError(error, 'NOT_FOUND')) {\n",
    replace:
      "    if (isServiceError(error, 'NOT_FOUND')) {\n      Object.assign(attempt, { ref: { ...attempt.ref, id: attempt.ref.id + 'x' } });\n",
  },
  {
    name: 'takes absence for an end',
    file: 'watch/check-container.ts',
    find: 'if (!(await isLost(session, attempt, missing)) || attempt.closed || session.stopped) return;',
    replace: 'if (attempt.closed || session.stopped || !isLost) return;',
  },
  {
    name: 'believes the first 404s',
    file: 'watch/lost-container.ts',
    find: 'missing.count < LOST_AFTER_CHECKS || missing.lasted < session.absenceLimit.ms',
    replace: 'missing.count < LOST_AFTER_CHECKS - 3 || missing.lasted < session.absenceLimit.ms * 0',
  },
  {
    name: 'tries a failed sync again',
    file: '../../home/src/journal/journal.ts',
    find: '      await file.sync();\n',
    replace: '      await file.sync().catch(() => file.sync());\n',
  },
  {
    name: 'does not write the journal anew when it is opened',
    file: '../../home/src/journal/open-journal.ts',
    find: 'if (size > 0 || found.value.isDamaged) await disk.replace(file, bytes.subarray(0, size));',
    replace: '',
  },
  {
    name: 'takes a verdict from another container under the ID',
    file: 'watch/observe-container.ts',
    find: 'if (!isOwnContainer(attempt, seen)) return false;',
    replace: 'void isOwnContainer;',
  },
  {
    name: 'takes a container for another one when its time is rounded',
    file: 'session/compare-create-times.ts',
    find: "if (apart < Math.max(a.unitMs, b.unitMs)) return 'same';",
    replace: "if (apart > 0) return 'far';",
    among: all(hidesLabels, hasTimes('rounded')),
  },
  {
    name: 'takes a container for another one when its time has no zone',
    seed: 23,
    file: 'session/compare-create-times.ts',
    find: 'if (a.hasZone === b.hasZone) {',
    replace: 'if (a.hasZone || b.hasZone) {',
    among: all(hidesLabels, hasTimes('zoneless')),
  },
  {
    name: 'takes a container for another one when its time drifts',
    seed: 2128,
    file: 'session/compare-create-times.ts',
    find: "return apart <= TOLERANCE_MS ? 'near' : 'far';",
    replace: "return apart <= 1 ? 'near' : 'far';",
    among: all(hidesLabels, hasTimes('drifting')),
  },
  {
    name: 'takes a requeued container for another one',
    file: 'watch/observe-container.ts',
    find: 'if (!isOwnContainer(attempt, seen)) return false;',
    replace:
      'const first = attempt as { runID?: string };\n  first.runID ??= seen.runID;\n  if (!isOwnContainer(attempt, seen) || (seen.runID && seen.runID !== first.runID)) return false;',
    among: ({ dialect }) => dialect.requeues,
  },
  {
    name: 'starts anew while another container lives under the ID',
    file: 'watch/check-container.ts',
    find: "    if (isTerminalPhase(seen.phase ?? '')) await noteMissing(session, attempt, 'another');\n",
    replace: "    if (attempt.confirmed) await noteMissing(session, attempt, 'another');\n",
  },
  {
    name: 'gives a container up after a minute',
    file: 'session/absence-limit.ts',
    find: 'const SHORTEST_MS = 5 * 60_000;',
    replace: 'const SHORTEST_MS = 60_000;',
    among: ({ dialect }) => dialect.readLagMs > 60_000 || dialect.absentMs > 60_000,
  },
  {
    name: "takes a gateway's page for a rejection",
    file: 'submission/create-reply.ts',
    find: 'return error.isForeign ?',
    replace: 'return error.isForeign === null ?',
    among: ({ faults, bursts }) => faults.page > 0 || bursts.some(({ gate }) => String(gate).startsWith('page')),
  },
  {
    name: 'believes a rejection before it has asked for the ID',
    file: 'submission/submit-attempt.ts',
    find: '      // It may duplicate the container of an earlier request: query once before accepting the rejection.\n',
    replace: '      conclude(session, attempt, { failure, lost: false });\n',
    among: all(has('tear'), ({ dialect }) => dialect.conflict === 400),
  },
  {
    name: 'believes a rejection as soon as it has resumed',
    seed: 1697,
    file: 'submission/final-rejection.ts',
    find: 'return session.resumedAt === undefined ? since : Math.max(since, session.resumedAt + ms);',
    replace: 'return since;',
    among: all(has('tear'), ({ dialect }) => dialect.conflict === 400 && dialect.readLagMs > 60_000),
  },
  {
    name: 'deletes a container as soon as it has ended',
    file: 'watch/observe-container.ts',
    find: '  if (outcome) {\n',
    replace: '  if (outcome) {\n    void session.service.containers.delete(attempt.ref).catch(() => {});\n',
  },
  {
    name: 'believes a rejection although an earlier create is in doubt',
    file: 'submission/final-rejection.ts',
    find: 'if (lost) return (unclearAt ?? since) + ms;',
    replace: 'if (lost) return since;',
  },
  {
    name: 'forgets at resume that a create is in doubt',
    file: 'submission/submitter.ts',
    find: 'const doubtful = known.id !== undefined ||',
    replace: 'const doubtful = known.id === null ||',
    isRare: true,
  },
  {
    name: 'takes an unknown phase for an end',
    file: 'watch/judge-terminal-phase.ts',
    find: '    default:\n      return undefined;',
    replace:
      "    default:\n      return container.phase === 'Warming' ? { result: 'failed', class: 'infrastructure', message: 'unknown' } : undefined;",
  },
  {
    name: 'takes Canceling for an end',
    file: 'watch/judge-terminal-phase.ts',
    find: "    case 'Canceled':\n",
    replace: "    case 'Canceling':\n    case 'Canceled':\n",
  },
  {
    name: 'fails an attempt for which there is no room',
    file: 'submission/submit-attempt.ts',
    find: "return postpone(session, attempt, { reason: 'quota', waitMs });",
    replace:
      "{ end(session, attempt, { result: 'failed', class: 'infrastructure', message: 'no room' }); return DONE; }",
  },
  {
    name: 'cancels without writing it down',
    file: 'submission/submitter.ts',
    find: "  session.note({ kind: 'cancelIntent', at: session.clock.now(), ...attempt.at, reason: command.reason });\n",
    replace: '',
  },
  {
    name: 'says published without publishing',
    file: 'data/publish-attempt.ts',
    find: '    await files.move(from, to);\n',
    replace: '',
  },
  {
    name: 'mounts what an attempt wrote instead of what was published',
    file: '../../run/src/facts/layout.ts',
    find: 'return join(`runs/${of.runId}/out/${of.step}/${of.output}`',
    replace: 'return join(`runs/${of.runId}/work/${of.step}/a1/${of.output}`',
  },
  {
    name: 'does not follow what an earlier runner has started',
    file: 'run/adopt-attempts.ts',
    find: '    if (known.id === undefined) continue;\n',
    replace: '    if (known.id !== undefined) continue;\n',
  },
  {
    name: 'does not ask whether it is still the newest runner',
    seed: 25,
    file: '../../home/src/journal/lease.ts',
    find: "return parseLease(bytes)?.control === lease.control ? undefined : 'another runner has resumed the run';",
    replace: 'return undefined;',
  },
  {
    name: 'starts more than the run allows',
    file: '../../run/src/scheduler/state/run-state.ts',
    find: 'plan.pipeline.parallelism ?? Infinity',
    replace: 'Infinity',
  },
  {
    name: 'takes absence from a list for an end',
    seed: 25,
    file: 'watch/poll-account.ts',
    find: '  if (!item || !isEnough(attempt, item) || !observe(polled, item)) return check(polled);',
    replace:
      "  if (item) observe(polled, item);\n  else { attempt.closed = true; run.session.post({ type: 'ended', at: run.session.clock.now(), ...attempt.at, outcome: { result: 'succeeded' } }); }",
  },
  {
    name: 'lets the attempts of a cell write to one directory',
    file: '../../run/src/facts/layout.ts',
    find: 'join(name.step, cellDirectory(name.cell))}/a${name.attempt}`',
    replace: 'join(name.step, cellDirectory(name.cell))}/a1`',
  },
  {
    name: 'asks for a doubtful container without a pause',
    seed: 35,
    file: 'submission/submit-attempt.ts',
    find: 'await pause(session, Math.max(step.waitMs, backoffDelay(CALL_BACKOFF, tries)));',
    replace: 'await pause(session, Math.min(step.waitMs, backoffDelay(CALL_BACKOFF, tries), 5));',
  },
  {
    name: 'asks once to cancel, and forgets it when the reply is lost',
    seed: 29,
    file: 'submission/submitter.ts',
    find: 'for (let tries = 1; !attempt.closed && !session.stopped;',
    replace: 'for (let tries = 1; tries === 1 && !attempt.closed && !session.stopped;',
  },
  {
    name: 'acquires slots without checking what others hold',
    file: '../../home/src/pools/find-shortage.ts',
    find: 'if (used + sum(before, pool) + needed > size)',
    replace: 'if (needed > size)',
    among: hasPools,
  },
  {
    name: 'removes the claims of a run whose runner is away',
    seed: 127,
    file: 'concurrency/is-abandoned.ts',
    find: "    if (evidence === 'alive' || evidence === 'ended') return evidence === 'ended';\n",
    replace: "    if (evidence) return evidence !== 'alive';\n",
    among: hasPools,
  },
  {
    name: 'never removes the claims of a run whose runner is away',
    seed: 172,
    file: 'concurrency/is-abandoned.ts',
    find: "      return seen === 'ended';\n",
    replace: '      return false;\n',
    among: all(hasPools, has('leave')),
  },
  {
    name: 'forgets at resume what its containers hold',
    seed: 173,
    file: 'concurrency/pool-claims.ts',
    find: 'const claims = [...list.claims.filter(({ runId }) => runId !== session.runId), ...kept];',
    replace: 'const claims = list.claims.filter(({ runId }) => runId !== session.runId);',
    among: hasPools,
  },
  {
    name: 'lets a run into a group beside the containers of a run that was left',
    seed: 186,
    file: 'concurrency/judge-member.ts',
    find: "return seen.every((one) => one === 'ended') ? 'idle' : 'left';",
    replace: "return seen.length < 0 ? 'left' : 'idle';",
    among: isGrouped,
  },
  {
    name: 'resumes a run beside the others of its group',
    seed: 724,
    file: 'run/resume-run.ts',
    find: "if (!header || records.some(({ kind }) => kind === 'finished')) return ok(undefined);",
    replace: 'if (!header || records.length > 0) return ok(undefined);',
    among: isGrouped,
  },
  {
    name: 'does not look who is in the group',
    seed: 20,
    file: 'concurrency/enter-group.ts',
    find: 'members.length + before.length < limit',
    replace: 'before.length < limit',
    among: isGrouped,
  },
  {
    name: 'lets a run go on by the clock of the machine',
    file: 'run/create-session.ts',
    find: '  const { clock } = opened;\n',
    replace: '  const clock = { ...opened.clock, now: opened.clock.wall };\n',
    among: has('clockJump'),
  },
  {
    name: 'resumes a run by the clock of the machine',
    file: '../../home/src/journal/resume-clock.ts',
    find: '(elapsedTo(clock, records, last) ?? Math.max(clock.now(), last))',
    replace: '(elapsedTo.length < 0 ? last : clock.now())',
    among: has('clockJump'),
  },
  {
    name: 'takes a file that is there for a whole one',
    seed: 456,
    file: 'trees/transfer-tree.ts',
    find: "if (known === undefined || known.link !== undefined || known.kind !== 'file' || known.size !== entry.size)\n    return false;",
    replace: 'if (known !== undefined) return true;\n  if (known === undefined) return false;',
    among: hasTwoClusters,
  },
  {
    name: 'starts a container before its inputs have come',
    file: 'submission/submitter.ts',
    find: 'await (start.lost || ready === undefined ? ready : Promise.race([ready, untilCanceled(attempt)]));',
    replace: 'void ready?.catch(() => untilCanceled(attempt));',
    among: hasTwoClusters,
  },
  {
    name: 'says transferred before it is',
    seed: 327,
    file: 'data/transfers.ts',
    find: '      const done = await transferTree({ from: workspace(from), to: workspace(to), path, copied });\n',
    replace:
      "      session.note({ kind: 'transferred', at: session.clock.now(), from, to, path, files: 0, bytes: 0 });\n      const done = await transferTree({ from: workspace(from), to: workspace(to), path, copied });\n",
    among: hasTwoClusters,
  },
  {
    name: 'goes to another cluster after the fault of the step itself',
    seed: 43,
    file: '../../run/src/facts/place-of.ts',
    find: "outcome?.result === 'failed' && outcome.class === 'infrastructure'",
    replace: "outcome?.result === 'failed'",
    among: hasTwoClusters,
  },
  {
    name: 'records the cells of a foreach that its stop has left undecided',
    seed: 10,
    file: '../../run/src/facts/apply-event.ts',
    find: 'if (scheduler.isExpanded(event.step)) setCells({ facts, scheduler }, event.step, recorded.cells);',
    replace: 'if (recorded.cells && setCells) facts.cells[event.step] = recorded.cells;',
    among: hasForeach,
  },
  {
    name: 'posts in an adopted run without asking before',
    seed: 49,
    file: 'submission/submitter.ts',
    find: 'known.id !== undefined || session.facts.adopted !== undefined;',
    replace: 'known.id !== undefined;',
    among: has('lose'),
  },
  {
    name: 'adopts without looking on the other clusters',
    seed: 1687,
    file: 'run/adopt-run.ts',
    find: 'const accounts = { ...placement?.accounts, [scope.clusterID]: scope.accountID };',
    replace: 'void placement?.accounts;\n    const accounts = { [scope.clusterID]: scope.accountID };',
    among: all(hasTwoClusters, has('lose')),
  },
  {
    name: 'postpones although the POST is in doubt',
    seed: 93,
    file: 'submission/submit-attempt.ts',
    find: 'if (failure.full && !held) return',
    replace: 'if (failure.full) return',
  },
  {
    name: 'has an adopted attempt wait for slots that its run holds for a later one',
    file: 'concurrency/claim-changes.ts',
    find: 'const isStarted = adoptedCluster(session.facts, claim) !== undefined;',
    replace: 'const isStarted = adoptedCluster === undefined;',
    isRare: true,
  },
  {
    name: 'goes on with an adopted run in the newest workspace',
    file: 'data/open-workspace.ts',
    find: 'if (volumeID !== undefined) return openKnown(options, volumeID);',
    replace: 'if (volumeID === null) return openKnown(options, volumeID);',
    isRare: true,
  },
  {
    name: 'gives a create up that it has sent a moment ago, since a gateway had replied to earlier ones',
    file: 'submission/final-rejection.ts',
    find: 'return (unclearAt ?? since) + ms;',
    replace: 'return unclearAt === 0 ? 0 : since + ms;',
    isRare: true,
  },
  {
    name: 'leaves running at its end what an adoption has found and the run has not reached',
    file: 'run/finish-run.ts',
    find: '  if (facts.adopted !== undefined) await endLeftContainers(session);\n',
    replace: '',
    isRare: true,
  },
  {
    name: 'postpones, as soon as it has resumed, what the torn end of its journal may have started',
    file: 'submission/submit-attempt.ts',
    find: 'if (asks && isTransient) return',
    replace: 'if (asks && !isTransient && held) return',
    isRare: true,
  },
  {
    name: 'writes down the time of a container that may have replaced its own',
    file: 'watch/observe-container.ts',
    find: 'createTime ?? seen.createTime',
    replace: 'createTime === null ? createTime : seen.createTime',
    isRare: true,
  },
  {
    name: 'keeps the place of a run that died before its first record, if the service cannot tell',
    file: 'concurrency/judge-member.ts',
    find: 'return (isOpening === true || wasOpened(disk, directory))',
    replace: 'return isOpening === undefined && !wasOpened(disk, directory)',
    isRare: true,
  },
];
