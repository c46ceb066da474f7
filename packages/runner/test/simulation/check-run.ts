import { type Container, isTerminalPhase } from '@sluice/client';
import type { Plan } from '@sluice/core';
import { findShortage, readClaims } from '@sluice/home';
import { type RunReport, replayRun } from '@sluice/run';
import type { MemoryDisk } from '../../../home/test/memory-disk.ts';
import { createMountChecker, type MountChecker, type MountCheckerOptions } from './check-mounts.ts';
import { checkMeant, checkParts } from './check-parts.ts';
import { createTimeChecker } from './check-times.ts';
import { isTrueVerdict } from './is-true-verdict.ts';
import { createEvidenceReader, type JournalEvidence } from './journal-evidence.ts';
import { createCellNumbers } from './listed-parts.ts';
import { HOME_CLUSTER, type RunScript } from './scenario.ts';
import type { ServiceDeed } from './simulated-service.ts';
import type { VirtualClock } from './virtual-clock.ts';

/** Watches a simulated run and notes everything that must never be. */
export interface RunChecker {
  onDeed(deed: ServiceDeed): void;
  /** The steps of the containers that live, one for each. */
  live(): number[];
  /** The journal is lost: what it said is to be found again. */
  loseJournal(): void;
  /** The journal has lost the intents of these containers, whose creates may still be under way. */
  tearJournal(ids: readonly string[], epoch: number): void;
  /** What was left of the run has been removed, since it had started nothing: its next journal begins anew. */
  beginAnew(): void;
  /** Looks at a lost run that could not be adopted. */
  giveUp(): void;
  /** While nobody drives the run, others have waited in vain: what it holds, it must hold rightly. */
  checkLeftClaims(): Promise<void>;
  /** What a container does; with `spoils`, it writes to what it was given to read. */
  program: MountChecker['program'];
  /** Looks at the end of the run. */
  finish(report: RunReport): void;
}

export interface CheckerOptions extends MountCheckerOptions {
  readonly script: RunScript;
  /** As `plan`, before any `foreach` is decided and any list is known. */
  readonly undecided: Plan;
  readonly disk: MemoryDisk;
  readonly clock: VirtualClock;
  /** Everything that went against the laws. */
  readonly violations: string[];
}

/** What the journal has lost of a container. */
interface TornIntent {
  /** Of the runner that wrote it. */
  readonly epoch: number;
  /** Its create request was in flight although no process waited for it. */
  readonly wasUnderWay: boolean;
  /** When its submission was last put off since. */
  putOffAt?: number;
}

interface Truth {
  readonly labels: Readonly<Record<string, string>>;
  phase: string | undefined;
}

/** After this long, the entry of a waiter that has not asked again does not count (docs/scheduler.md). */
const EXPIRED_MS = 60_000;

/** What `continueOnError` means, written down once more. */
function allowedFailures(tolerance: number | string, cells: number): number {
  return typeof tolerance === 'number' ? tolerance : Math.floor((Number.parseInt(tolerance, 10) * cells) / 100);
}

export function createRunChecker(options: CheckerOptions): RunChecker {
  const { plan, runId, disk, script, violations } = options;
  const numberCells = () => createCellNumbers(options.undecided, plan);
  const readEvidence = () => createEvidenceReader(disk, `/home/runs/${runId}/journal.ndjson`, numberCells);
  let evidence = readEvidence();
  /** What journals said that were lost since, the newest first. */
  const before: JournalEvidence[] = [];
  const truths = new Map<string, Truth>();
  let judged = 0;
  /** What this journal's runners have asked for. */
  const gotten = new Set<string>();
  let putOffs = 0;
  const torn = new Map<string, TornIntent>();
  const claim = (holds: boolean, message: () => string) => {
    if (!holds) violations.push(message());
  };
  const mounts = createMountChecker({ ...options, isResumed: script.mishaps.length > 0 }, claim);
  let times = createTimeChecker(options, claim);

  /** Step and cell numbers of a container's labels. */
  function place(labels: Readonly<Record<string, string>>): { step: number; cell: number; attempt: number } {
    const step = plan.steps.findIndex((planned) => planned.step.name === labels['sluice-step']);
    const cell = plan.steps[step]?.cells?.findIndex(({ key }) => key === labels['sluice-cell']) ?? -1;
    return { step, cell, attempt: Number(labels['sluice-attempt']) };
  }

  function onAsked(call: string, id: string | undefined): void {
    if (id !== undefined && call === 'get') gotten.add(id);
    if (id === undefined || !['create', 'cancel', 'delete'].includes(call)) return;
    claim(id.startsWith(`s${runId}-`), () => `${call} of ${id}, which is not of this run`);
    claim(call !== 'delete', () => `delete of ${id}: nothing is deleted while a run goes on`);
    if (call === 'create') {
      claim(evidence().intents.has(id), () => `create of ${id} without a durable intent`);
      claim(!evidence().isAdopted || gotten.has(id), () => `create of ${id} in an adopted run that did not ask for it`);
    }
    if (call !== 'cancel') return;
    const labels = truths.get(id)?.labels;
    if (!labels) return;
    const at = place(labels);
    const { step, cell, attempt } = at;
    times.onCancel(at, { evidence: evidence(), container: options.simulated().containers.get(id) });
    const { cancels, warnings, isAdopted } = evidence();
    // At its end, an adopted run cancels what it has not reached, which has no attempt in its journal.
    const isWarned = isAdopted && warnings.some((message) => message.includes(id) && message.includes('canceled'));
    claim(isWarned || cancels.has(`${step}/${cell}/${attempt}`), () => `cancel of ${id} without a durable intent`);
  }

  function onCreated(id: string, container: Container): void {
    claim(!truths.has(id), () => `container ${id} was started twice`);
    const labels = container.labels ?? {};
    const twin = [...truths.values()].find((truth) => nameOf(truth.labels) === nameOf(labels));
    claim(twin === undefined, () => `attempt ${nameOf(labels)} was started twice`);
    truths.set(id, { labels, phase: undefined });
    const at = place(labels);
    // What was asked for before the journal was lost may come after that.
    const now = [evidence(), ...before].find(({ intents }) => intents.has(id)) ?? evidence();
    if (at.attempt > 1) {
      const previous = `${at.step}/${at.cell}/${at.attempt - 1}`;
      claim(now.ended.has(previous), () => `${id} was started before the end of the attempt before it was durable`);
      const shown = options.simulated().containers.get(now.ids.get(previous) ?? '')?.wire.phase;
      claim(shown === undefined || isTerminalPhase(shown), () => `${id} was started while ${previous} shows ${shown}`);
    }
    for (const { on } of plan.steps[at.step]?.dependencies ?? []) {
      if (plan.axes === undefined) checkDependency(id, on, now);
      else checkMeant(plan, { ...at, id, on, now }, claim);
    }
    checkCluster(id, at, { clusterID: container.clusterID, now });
    mounts.onCreated(id, { container, step: at.step, now });
    checkLimits(id);
  }

  function checkDependency(id: string, on: number, now: JournalEvidence): void {
    const { step, cells = [] } = plan.steps[on]!;
    if (step.continueOnError === true) return;
    const kind = Object.keys(step.outputs).length > 0 ? 'published' : 'succeeded';
    if (step.continueOnError !== false) {
      const missing = cells.filter((_, cell) => !now.published.has(`${kind}:${on}/${cell}`)).length;
      const allowed = cells[0]?.key === '' ? 0 : allowedFailures(step.continueOnError, cells.length);
      claim(missing <= allowed, () => `${id} was started although ${missing} cells of ${step.name} are missing`);
      return;
    }
    for (let cell = 0; cell < cells.length; cell++) {
      claim(
        now.published.has(`${kind}:${on}/${cell}`),
        () => `${id} was started before ${step.name} was durably ${kind}`,
      );
    }
  }

  /** On the step's best cluster, and after each infrastructure failure of the cell on the next one. */
  function checkCluster(
    id: string,
    at: ReturnType<typeof place>,
    { clusterID, now: { ended } }: { readonly clusterID: string; readonly now: JournalEvidence },
  ): void {
    const clusters = script.steps[at.step]?.clusters ?? [HOME_CLUSTER];
    let lost = 0;
    for (let attempt = 1; attempt < at.attempt; attempt++) {
      const end = ended.get(`${at.step}/${at.cell}/${attempt}`)?.event;
      if (end?.type !== 'ended' || end.outcome.result !== 'failed') continue;
      if (end.outcome.class === 'infrastructure') lost++;
    }
    const wanted = clusters[lost % clusters.length];
    claim(clusterID === wanted, () => `${id} was started on ${clusterID} instead of ${wanted}`);
  }

  /** The containers that have neither ended nor been given up. */
  function liveOnes(): string[] {
    const { ended } = evidence();
    return [...truths].flatMap(([id, { labels, phase }]) => {
      const { step, cell, attempt } = place(labels);
      return phase === undefined && !ended.has(`${step}/${cell}/${attempt}`) ? [id] : [];
    });
  }

  /**
   * An adopted run counts what it has come to: what it has not taken up yet runs beside its limits (decision 0013). So
   * does what a lost intent has asked for, if the service did not show it yet when it was put off (decision 0028).
   */
  function checkLimits(id: string): void {
    const { parallelism = Number.POSITIVE_INFINITY } = script;
    const { intents } = evidence();
    const { length } = liveOnes().filter((other) => intents.has(other) && !isUnknowable(other));
    claim(length <= parallelism, () => `${id} is one too many: ${length} of ${parallelism}`);
  }

  /** It was created by the request of the lost intent, and the service did not show it when it was put off. */
  function isUnknowable(id: string): boolean {
    const { epoch, putOffAt } = torn.get(id) ?? {};
    const container = options.simulated().containers.get(id);
    if (putOffAt === undefined || !container) return false;
    return container.wire.labels?.['sluice-epoch'] === String(epoch) && container.visibleAt >= putOffAt;
  }

  /** Each verdict is held against what the service knows at the moment when it has become durable. */
  function checkNewVerdicts(): void {
    const now = evidence();
    times.onEvidence(now);
    mounts.onEvidence(now);
    const { verdicts, putOff, ids } = now;
    for (; putOffs < putOff.length; putOffs++) {
      const id = ids.get(putOff[putOffs]!) ?? '';
      // Of a create whose intent is lost neither the journal nor the service can tell while it is under way.
      const lost = torn.get(id);
      if (lost) lost.putOffAt = options.clock.now();
      const isUnderWay = options.simulated().inFlight.has(id) && lost?.wasUnderWay !== true;
      claim(!isUnderWay, () => `${id} was put off while its create was under way`);
    }
    for (; judged < verdicts.length; judged++) checkVerdict(verdicts[judged]!);
  }

  function finish(report: RunReport): void {
    checkNewVerdicts();
    const now = evidence();
    for (const [id, truth] of truths) {
      const container = options.simulated().containers.get(id);
      const { step, cell, attempt } = place(truth.labels);
      const isLate = now.ended.has(`${step}/${cell}/${attempt}`);
      // What has taken its place under its ID is not of this run, which must leave it alone.
      const isOver = truth.phase !== undefined || !container?.live;
      claim(isLate || isOver, () => `container ${id} still runs after the end of the run`);
    }
    claim(['succeeded', 'failed', 'canceled'].includes(report.status), () => `the run ended as ${report.status}`);
    for (const [cell, attempts] of now.winners) {
      const all = new Set([...attempts, ...before.flatMap(({ winners }) => [...(winners.get(cell) ?? [])])]);
      claim(all.size === 1, () => `cell ${cell} has the winners ${[...all].join(', ')}`);
    }
    checkSuccesses(report);
    if (plan.axes !== undefined) checkParts(plan, { report, script }, claim);
    claim(now.changed.length === 0, () => `the ends of ${now.changed.join(', ')} were changed`);
    if (report.status === 'succeeded') mounts.checkOutputs(report);
    checkPrefixes(now);
  }

  /** Each cell that counts as succeeded has had a container that succeeded. */
  function checkSuccesses({ steps }: RunReport): void {
    const succeeded = new Set(
      [...truths.values()].flatMap(({ labels, phase }) =>
        phase === 'Succeeded' ? [`${labels['sluice-step']}/${labels['sluice-cell']}`] : [],
      ),
    );
    for (const [step, { step: name, cells }] of steps.entries()) {
      if (script.steps[step]?.asks && evidence().published.has(`succeeded:${step}/0`)) continue;
      for (const { cell, status, reused } of cells) {
        const isTrue = status !== 'succeeded' || reused === true || succeeded.has(`${name}/${cell}`);
        claim(isTrue, () => `${name}/${cell} counts as succeeded, and no container of it has succeeded`);
      }
    }
  }

  /** Some prefixes of the journal, each a state that a crash could have left: all of them can be taken up. */
  function checkPrefixes({ records }: JournalEvidence): void {
    const count = records.length;
    for (const length of new Set([count, Math.floor(count * 0.75), Math.floor(count / 2), Math.floor(count / 4), 2])) {
      try {
        const replayed = replayRun(options.undecided, records.slice(0, length));
        replayed?.scheduler.resume();
        replayed?.scheduler.assertInvariants();
      } catch (error) {
        violations.push(`the first ${length} records cannot be replayed: ${(error as Error).message}`);
      }
    }
  }

  function checkVerdict(record: JournalEvidence['verdicts'][number]): void {
    const event = record.event as Extract<typeof record.event, { type: 'ended' }>;
    const id = evidence().ids.get(`${event.step}/${evidence().cellOf(event.step, event.cell)}/${event.attempt}`) ?? '';
    const truth = truths.get(id);
    const said = JSON.stringify(event.outcome);
    const isUnderWay = options.simulated().inFlight.has(id);
    const isTrue = isTrueVerdict(event.outcome, { phase: truth?.phase, isCreated: truth !== undefined, isUnderWay });
    claim(isTrue, () => `verdict ${said} on ${id}, which is ${truth?.phase ?? 'not ended'}`);
  }

  /** The containers of this run that the service still has; under an ID of ours there may be somebody else's. */
  function stepsLeft(): Set<string | undefined> {
    const left = [...options.simulated().containers.values()].flatMap(({ wire: { labels = {} } }) =>
      labels['sluice-run'] === runId ? [labels['sluice-step']] : [],
    );
    return new Set(left);
  }

  return {
    program: mounts.program,
    finish,
    live: () => liveOnes().map((id) => place(truths.get(id)!.labels).step),
    loseJournal() {
      checkNewVerdicts();
      before.unshift(evidence());
      judged = 0;
      gotten.clear();
      putOffs = 0;
      times = createTimeChecker(options, claim);
      evidence = readEvidence();
    },
    tearJournal(ids, epoch) {
      evidence = readEvidence();
      for (const id of ids) torn.set(id, { epoch, wasUnderWay: options.simulated().inFlight.has(id) });
    },
    beginAnew() {
      checkNewVerdicts();
      claim(truths.size === 0, () => `run ${runId} was removed, although it has started containers`);
      judged = 0;
      putOffs = 0;
      times = createTimeChecker(options, claim);
      evidence = readEvidence();
    },
    giveUp() {
      const left = stepsLeft();
      const isForgotten = [...truths.values()].some(({ labels }) => !left.has(labels['sluice-step']));
      claim(
        left.size === 0 || isForgotten,
        () => `run ${runId} could not be adopted, although its containers are there`,
      );
    },
    async checkLeftClaims() {
      const { containers } = options.simulated();
      // Also records that are not durable: a reader cannot tell them apart.
      const journal = Buffer.from(disk.files.get(`/home/runs/${runId}/journal.ndjson`) ?? '').toString();
      const list = await readClaims({ disk, home: '/home' });
      // Claims are only judged if another run waits for their slots. This run waits for nothing while no process executes it.
      const now = options.clock.wall();
      const waiting = list.waiting.filter((waiter) => waiter.runId !== runId && now - waiter.askedAt < EXPIRED_MS);
      const lacking = waiting.flatMap((waiter) => findShortage(list, waiter, plan.pipeline.pools)?.holders ?? []);
      for (const { containerID } of lacking.filter((claim) => claim.runId === runId)) {
        const truth = truths.get(containerID);
        const isKnown =
          truth === undefined
            ? !journal.includes(containerID)
            : containers.get(containerID)?.wire.labels?.['sluice-run'] === runId;
        const isFree = isKnown && (truth === undefined || truth.phase !== undefined);
        claim(!isFree, () => `${containerID} has ended, and others wait for its slots`);
      }
    },
    onDeed(deed) {
      checkNewVerdicts();
      if (deed.kind === 'asked') onAsked(deed.call, deed.id);
      else if (deed.kind === 'created') onCreated(deed.id, deed.container.wire);
      else {
        const truth = truths.get(deed.id);
        // Only the first end is that of the container: another one may have taken its place.
        if (truth && truth.phase === undefined)
          truth.phase =
            options.simulated().containers.get(deed.id) === deed.container ? deed.container.wire.phase : 'Vanished';
      }
    },
  };
}

function nameOf(labels: Readonly<Record<string, string>>): string {
  return `${labels['sluice-step']}/${labels['sluice-cell']}/${labels['sluice-attempt']}`;
}
