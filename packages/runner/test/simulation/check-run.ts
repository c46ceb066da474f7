import { createHash } from 'node:crypto';
import type { Container } from '@sluice/client';
import type { Plan } from '@sluice/core';
import { replayRun } from '../../src/run/replay-run.ts';
import type { RunReport } from '../../src/run/run-report.ts';
import { createEvidenceReader, type JournalEvidence } from './journal-evidence.ts';
import type { MemoryDisk } from './memory-disk.ts';
import type { MemoryVolume } from './memory-files.ts';
import { writeFile } from './memory-files.ts';
import type { Scenario } from './scenario.ts';
import type { ServiceDeed, SimulatedService } from './simulated-service.ts';

/** Watches a simulated run and notes everything that must never be. */
export interface RunChecker {
  readonly violations: readonly string[];
  onDeed(deed: ServiceDeed): void;
  /** What a successful container does: writes a hash of everything that it was given. */
  work(container: Container): void;
  /** Looks at the end of the run. */
  finish(report: RunReport): void;
}

export interface CheckerOptions {
  readonly scenario: Scenario;
  readonly plan: Plan;
  readonly runId: string;
  readonly disk: MemoryDisk;
  readonly simulated: () => SimulatedService;
}

interface Truth {
  readonly labels: Readonly<Record<string, string>>;
  phase: string | undefined;
}

export function createRunChecker(options: CheckerOptions): RunChecker {
  const { plan, runId, disk, scenario } = options;
  const violations: string[] = [];
  const evidence = createEvidenceReader(disk, `/home/runs/${runId}/journal.ndjson`);
  const truths = new Map<string, Truth>();
  const judged = new Set<string>();
  const places = new Map<string, string>();
  const claim = (holds: boolean, message: () => string) => {
    if (!holds) violations.push(message());
  };

  /** Step and cell numbers of a container's labels. */
  function place(labels: Readonly<Record<string, string>>): { step: number; cell: number; attempt: number } {
    const step = plan.steps.findIndex((planned) => planned.step.name === labels['sluice-step']);
    const cell = plan.steps[step]?.cells?.findIndex(({ key }) => key === labels['sluice-cell']) ?? -1;
    return { step, cell, attempt: Number(labels['sluice-attempt']) };
  }

  function onAsked(call: string, id: string | undefined): void {
    if (id === undefined || !['create', 'cancel', 'delete'].includes(call)) return;
    claim(id.startsWith(`s${runId}-`), () => `${call} of ${id}, which is not of this run`);
    claim(call !== 'delete', () => `delete of ${id}: nothing is deleted while a run goes on`);
    if (call === 'create') claim(evidence().intents.has(id), () => `create of ${id} without a durable intent`);
    if (call !== 'cancel') return;
    const labels = truths.get(id)?.labels;
    if (!labels) return;
    const { step, cell, attempt } = place(labels);
    claim(evidence().cancels.has(`${step}/${cell}/${attempt}`), () => `cancel of ${id} without a durable intent`);
  }

  function onCreated(id: string, container: Container): void {
    claim(!truths.has(id), () => `container ${id} was started twice`);
    const labels = container.labels ?? {};
    const twin = [...truths.values()].find((truth) => nameOf(truth.labels) === nameOf(labels));
    claim(twin === undefined, () => `attempt ${nameOf(labels)} was started twice`);
    truths.set(id, { labels, phase: undefined });
    const at = place(labels);
    const now = evidence();
    if (at.attempt > 1) {
      const before = `${at.step}/${at.cell}/${at.attempt - 1}`;
      claim(now.ended.has(before), () => `${id} was started before the end of the attempt before it was durable`);
    }
    for (const { on } of plan.steps[at.step]?.dependencies ?? []) checkDependency(id, on, now);
    checkMounts(id, at.step, container);
    checkOwnPlaces(id, container);
    checkLimits(id, now);
  }

  function checkDependency(id: string, on: number, now: JournalEvidence): void {
    const { step, cells = [] } = plan.steps[on]!;
    if (step.continueOnError) return;
    const kind = Object.keys(step.outputs).length > 0 ? 'published' : 'succeeded';
    for (let cell = 0; cell < cells.length; cell++) {
      claim(
        now.published.has(`${kind}:${on}/${cell}`),
        () => `${id} was started before ${step.name} was durably ${kind}`,
      );
    }
  }

  function checkMounts(id: string, step: number, container: Container): void {
    const given = Object.entries(container.volumeMounts ?? {}).filter(([, at]) => at.startsWith('/in/'));
    const wanted = Object.values(plan.steps[step]?.step.inputs ?? {}).flatMap(({ from }) =>
      'step' in from ? [`runs/${runId}/out/${from.step}/${from.output}`] : [],
    );
    const paths = given.map(([key]) => key.split(':')[1] ?? '');
    claim(JSON.stringify(paths.sort()) === JSON.stringify(wanted.sort()), () => `${id} mounts ${paths.join(', ')}`);
  }

  /** What an attempt may write is its own: no other attempt, not even of the same cell, is given the same directory. */
  function checkOwnPlaces(id: string, container: Container): void {
    for (const [key, at] of Object.entries(container.volumeMounts ?? {})) {
      if (at.startsWith('/in/')) continue;
      const place = key.split(':')[1] ?? '';
      claim(place.startsWith(`runs/${runId}/`), () => `${id} writes to ${place}`);
      claim(!places.has(place), () => `${id} writes to ${place}, which is ${places.get(place)}'s`);
      places.set(place, id);
    }
  }

  function checkLimits(id: string, now: JournalEvidence): void {
    if (scenario.parallelism === undefined) return;
    const live = [...truths].filter(([, { labels, phase }]) => {
      const { step, cell, attempt } = place(labels);
      return phase === undefined && !now.ended.has(`${step}/${cell}/${attempt}`);
    });
    claim(
      live.length <= scenario.parallelism,
      () => `${id} is one too many: ${live.length} of ${scenario.parallelism}`,
    );
  }

  function work(container: Container): void {
    const { volumes } = options.simulated();
    const text = digestInputs(container, volumes);
    for (const [key, at] of Object.entries(container.volumeMounts ?? {})) {
      const [volume = '', path = ''] = key.split(':');
      if (at === '/out') writeFile(volumes.get(volume)!, `${path}/data`, Buffer.from(text));
    }
  }

  /** Each verdict is held against what the service knows at the moment when it has become durable. */
  function checkNewVerdicts(): void {
    const { ended } = evidence();
    if (ended.size === judged.size) return;
    for (const [key, record] of ended) {
      if (judged.has(key)) continue;
      judged.add(key);
      checkVerdict(record);
    }
  }

  function finish(report: RunReport): void {
    checkNewVerdicts();
    const now = evidence();
    for (const [id, truth] of truths) {
      const container = options.simulated().containers.get(id);
      const { step, cell, attempt } = place(truth.labels);
      const isLate = now.ended.has(`${step}/${cell}/${attempt}`);
      claim(isLate || !container?.live, () => `container ${id} still runs after the end of the run`);
    }
    claim(['succeeded', 'failed', 'canceled'].includes(report.status), () => `the run ended as ${report.status}`);
    for (const [cell, attempts] of now.winners) {
      claim(attempts.size === 1, () => `cell ${cell} has the winners ${[...attempts].join(', ')}`);
    }
    claim(now.changed.length === 0, () => `the ends of ${now.changed.join(', ')} were changed`);
    if (report.status === 'succeeded') checkOutputs();
    checkPrefixes(now);
  }

  /** Some prefixes of the journal, each a state that a crash could have left: all of them can be taken up. */
  function checkPrefixes({ records }: JournalEvidence): void {
    const count = records.length;
    for (const length of new Set([count, Math.floor(count * 0.75), Math.floor(count / 2), Math.floor(count / 4), 2])) {
      try {
        const replayed = replayRun(plan, records.slice(0, length));
        replayed?.scheduler.resume();
        replayed?.scheduler.assertInvariants();
      } catch (error) {
        violations.push(`the first ${length} records cannot be replayed: ${(error as Error).message}`);
      }
    }
  }

  function checkVerdict(record: ReturnType<JournalEvidence['ended']['get']>): void {
    const event = record!.event as Extract<NonNullable<typeof record>['event'], { type: 'ended' }>;
    const intent = evidence().records.find(
      (known) =>
        known.kind === 'intent' &&
        known.step === event.step &&
        known.cell === event.cell &&
        known.attempt === event.attempt,
    );
    const id = intent?.kind === 'intent' ? intent.id : '';
    const truth = truths.get(id);
    const said = JSON.stringify(event.outcome);
    claim(allows(event.outcome, truth), () => `verdict ${said} on ${id}, which is ${truth?.phase ?? 'not ended'}`);
  }

  function checkOutputs(): void {
    const { volumes } = options.simulated();
    for (const { step, cells = [] } of plan.steps) {
      if (!step.outputs.out || step.continueOnError) continue;
      for (const { key } of cells) {
        const path = [`runs/${runId}/out/${step.name}/out`, key, 'data'].filter(Boolean).join('/');
        const found = [...volumes.values()].map(({ files }) => files.get(path)).find((bytes) => bytes !== undefined);
        const wanted = expected(plan, step.name, key);
        if (wanted === undefined) continue;
        claim(found !== undefined, () => `${path} is missing`);
        if (found) claim(Buffer.from(found).toString() === wanted, () => `${path} is not made of its inputs`);
      }
    }
  }

  return {
    violations,
    work,
    finish,
    onDeed(deed) {
      checkNewVerdicts();
      if (deed.kind === 'asked') onAsked(deed.call, deed.id);
      else if (deed.kind === 'created') onCreated(deed.id, deed.container.wire);
      else {
        const truth = truths.get(deed.id);
        if (truth)
          truth.phase =
            options.simulated().containers.get(deed.id) === deed.container ? deed.container.wire.phase : 'Vanished';
      }
    },
  };
}

function nameOf(labels: Readonly<Record<string, string>>): string {
  return `${labels['sluice-step']}/${labels['sluice-cell']}/${labels['sluice-attempt']}`;
}

type Outcome = Extract<
  Extract<JournalEvidence['records'][number], { kind: 'event' }>['event'],
  { type: 'ended' }
>['outcome'];

/** Whether the service really gave this verdict. */
function allows(outcome: Outcome, truth: Truth | undefined): boolean {
  switch (outcome.result) {
    case 'succeeded':
      return truth?.phase === 'Succeeded';
    case 'canceled':
      // Cancelled before it could start, or by the service.
      return truth === undefined || truth.phase === 'Canceled';
    case 'failed':
      if (outcome.message.startsWith('the service refused')) return truth === undefined;
      if (outcome.message.startsWith('the ID ')) return !truth || truth.phase === 'Vanished';
      if (outcome.message.startsWith('the service kept refusing')) return !truth || truth.phase === 'Vanished';
      if (outcome.message.startsWith('the container is lost')) return truth?.phase === 'Vanished';
      return outcome.class === 'infrastructure' ? truth?.phase === 'Unknown' : truth?.phase === 'Failed';
  }
}

function digestInputs(container: Container, volumes: ReadonlyMap<string, MemoryVolume>): string {
  const lines: string[] = [];
  for (const [key, at] of Object.entries(container.volumeMounts ?? {})) {
    if (!at.startsWith('/in/')) continue;
    const [volume = '', path = ''] = key.split(':');
    for (const [file, bytes] of volumes.get(volume)?.files ?? []) {
      if (!file.startsWith(`${path}/`) || !file.endsWith('/data')) continue;
      lines.push(`${at}${file.slice(path.length)}=${Buffer.from(bytes).toString()}`);
    }
  }
  return digest(container.labels?.['sluice-step'] ?? '', container.labels?.['sluice-cell'] ?? '', lines);
}

function digest(step: string, cell: string, lines: readonly string[]): string {
  return createHash('sha256')
    .update(JSON.stringify([step, cell, [...lines].sort()]))
    .digest('hex')
    .slice(0, 16);
}

/** What a cell's output must be; undefined where a failed dependency makes that a matter of luck. */
function expected(plan: Plan, name: string, cell: string): string | undefined {
  const planned = plan.steps.find(({ step }) => step.name === name)!;
  const lines: string[] = [];
  for (const { from, path } of Object.values(planned.step.inputs)) {
    if (!('step' in from)) continue;
    const producer = plan.steps.find(({ step }) => step.name === from.step)!;
    if (producer.step.continueOnError) return undefined;
    for (const { key } of producer.cells ?? []) {
      const made = expected(plan, from.step, key);
      if (made === undefined) return undefined;
      lines.push(`${path}${key === '' ? '' : `/${key}`}/data=${made}`);
    }
  }
  return digest(name, cell, lines);
}
