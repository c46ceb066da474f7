import {
  type CellMatch,
  cellsOfGroup,
  groupsOf,
  isMatched,
  matchOf,
  type Plan,
  type PlannedDependency,
  type PlannedStep,
  plannedCell,
} from '@sluice/core';
import { type CellState, TERMINAL_CELL_STATES } from '../scheduler/model/cell-state.ts';
import type { SkipCause } from '../scheduler/model/skip-cause.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import type { RunFacts } from './run-facts.ts';
import { stepIndex } from './step-context.ts';

/** A temporary output of one cell. */
export interface TemporaryOutput {
  readonly step: number;
  readonly cell: number;
  readonly output: string;
}

/**
 * Decides which temporary outputs of a run no cell needs any more: all cells that mount them have ended, and none of these
 * has failed or was canceled, so that a rerun finds what it needs. Its decisions depend on the run's state only.
 */
export interface TemporaryOutputs {
  /** To be called after the event that has moved the cell was applied. */
  noteMove(step: number, cell: number): void;
  /** The outputs that became removable since the last call, without those that the journal has as removed. */
  take(): readonly TemporaryOutput[];
}

interface Run {
  readonly plan: Plan;
  readonly facts: RunFacts;
  readonly scheduler: Pick<Scheduler, 'state' | 'skipCause' | 'cellCount'>;
}

/** The cells that read a temporary output together: those of a group, or all cells of a step. */
interface Readers {
  /** How many have not ended. */
  open: number;
  /** One has failed, was canceled, or may have a container that is still running. */
  isKept: boolean;
}

/** The edge from a temporary output to a step that mounts it. */
interface TemporaryEdge {
  readonly source: TemporarySource;
  readonly reader: number;
  /** Absent: each cell of the reader may mount each cell of the source. */
  readonly match?: CellMatch;
  /** By group; one entry without `match`. */
  readonly groups: readonly Readers[];
}

/** A temporary output of a step. */
interface TemporarySource {
  readonly step: number;
  readonly output: string;
  readonly edges: TemporaryEdge[];
}

/** What a step writes and mounts. */
interface OfStep {
  readonly written: TemporarySource[];
  readonly matched: TemporaryEdge[];
  readonly whole: TemporaryEdge[];
}

/** Undefined: the plan has no temporary outputs. */
export function createTemporaryOutputs(run: Run): TemporaryOutputs | undefined {
  const sources = findSources(run.plan);
  if (sources.length === 0) return undefined;
  const ofStep = run.plan.steps.map((): OfStep => ({ written: [], matched: [], whole: [] }));
  for (const source of sources) {
    ofStep[source.step]!.written.push(source);
    for (const edge of source.edges) ofStep[edge.reader]![edge.match === undefined ? 'whole' : 'matched'].push(edge);
  }
  const readers = ofStep.flatMap(({ whole }, step) => (whole.length > 0 ? [step] : []));
  /** The cells that have ended, by step, and how many these are; -1 for a step whose end was handled. */
  const seen = run.plan.steps.map((): boolean[] => []);
  const ended = run.plan.steps.map(() => 0);
  const hasEnded = createBatchCount(run);
  let found: TemporaryOutput[] = [];

  function considerAll(source: TemporarySource, cells: Iterable<number>): void {
    for (const cell of cells)
      if (isRemovable(run, source, cell)) found.push({ step: source.step, cell, output: source.output });
  }

  /** The cells of a step that are not matched one by one count together, since it may not be known yet how many there are. */
  function noteStepEnd(step: number): void {
    const count = run.scheduler.cellCount(step);
    if (count === undefined || ended[step] !== count) return;
    ended[step] = -1;
    const isKept = Array.from({ length: count }, (_, cell) => cell).some((cell) => needsInputs(run, step, cell));
    for (const { source, groups } of ofStep[step]!.whole) {
      groups[0]!.isKept ||= isKept;
      if (endReader(groups[0]!)) considerAll(source, (run.facts.cells[source.step] ?? []).keys());
    }
  }

  return {
    noteMove(step, cell) {
      // The cell that represents an undecided `foreach` may not exist any more.
      if (seen[step]![cell] || cell >= (run.scheduler.cellCount(step) ?? 0)) return;
      if (!TERMINAL_CELL_STATES.has(run.scheduler.state(step, cell))) return;
      seen[step]![cell] = true;
      ended[step]! += 1;
      const { matched, written } = ofStep[step]!;
      if (matched.length > 0) {
        const hasListEnded = hasEnded(step, cell);
        for (const edge of matched) considerAll(edge.source, endMatched(run, edge, { cell, hasListEnded }));
      }
      for (const source of written) considerAll(source, [cell]);
    },
    take() {
      // Here and not at a move: a `foreach` over an empty list ends without one.
      for (const reader of readers) noteStepEnd(reader);
      const taken = found;
      found = [];
      return taken;
    },
  };
}

function isRemovable({ facts, scheduler }: Run, { step, output, edges }: TemporarySource, cell: number): boolean {
  const known = facts.known[step]?.[cell];
  // A reused output belongs to the run that wrote it.
  if (known?.winner === undefined || scheduler.state(step, cell) !== 'succeeded') return false;
  const planned = plannedCell(facts.batches[step], cell);
  return !known.removed?.includes(output) && edges.every((edge) => isDone(edge, planned));
}

/** Counts a reader that has ended. Whether all have, and none of them keeps the outputs. */
function endReader(readers: Readers): boolean {
  readers.open -= 1;
  return readers.open === 0 && !readers.isKept;
}

/**
 * Counts a cell that has ended in the groups that it reads, when all cells of its list have ended, since others may be added
 * before. Returns the cells of the source whose last reader of this edge it was.
 */
function endMatched(
  run: Run,
  { source, reader, match, groups }: TemporaryEdge,
  { cell, hasListEnded }: { readonly cell: number; readonly hasListEnded: boolean },
): readonly number[] {
  const isKept = needsInputs(run, reader, cell);
  const batches = run.facts.batches[source.step];
  const freed: number[] = [];
  for (const group of groupsOf(match!, plannedCell(run.facts.batches[reader], cell))) {
    const readers = groups[group]!;
    readers.isKept ||= isKept;
    if (!hasListEnded || !endReader(readers)) continue;
    for (const planned of cellsOfGroup(match!, group)) freed.push(...(batches?.members(planned) ?? [planned]));
  }
  return freed;
}

/** Creates a function that counts a cell that has ended, and says whether all cells of its list have. */
function createBatchCount(run: Run): (step: number, cell: number) => boolean {
  const counts = run.plan.steps.map(() => new Map<number, number>());
  return (step, cell) => {
    const batches = run.facts.batches[step];
    if (batches === undefined) return true;
    const planned = batches.batchOf(cell);
    const count = (counts[step]!.get(planned) ?? 0) + 1;
    counts[step]!.set(planned, count);
    // Of an empty list, or one that nothing will list, only the cell that stood for it ends.
    return count === Math.max(1, batches.sizeOf(planned) ?? 1);
  };
}

function isDone({ match, groups }: TemporaryEdge, cell: number): boolean {
  const readers = groups[match ? match.groupOf[cell]! : 0];
  return readers === undefined || (readers.open === 0 && !readers.isKept);
}

/** In time linear in the steps: all of ten thousand can have such outputs. */
function findSources(plan: Plan): readonly TemporarySource[] {
  const sources = new Map<string, TemporarySource>();
  for (const { index, step } of plan.steps) {
    for (const [output, { temporary }] of Object.entries(step.outputs))
      if (temporary) sources.set(`${step.name}.${output}`, { step: index, output, edges: [] });
  }
  if (sources.size === 0) return [];
  for (const reader of plan.steps) {
    for (const [input, { from, or = [] }] of Object.entries(reader.step.inputs)) {
      const names = [from, ...or].flatMap((one) => ('step' in one ? [`${one.step}.${one.output}`] : []));
      for (const name of new Set(names)) {
        const source = sources.get(name);
        source?.edges.push(createEdge(plan, { reader, input, source }));
      }
    }
  }
  return [...sources.values()];
}

function createEdge(
  plan: Plan,
  { reader, input, source }: { readonly reader: PlannedStep; readonly input: string; readonly source: TemporarySource },
): TemporaryEdge {
  const of = { source, reader: reader.index };
  const written = plan.steps[source.step]!;
  if (!isMatched(reader, written)) return { ...of, groups: [{ open: 1, isKept: false }] };
  const match = matchOf(plan, reader, findDependency(reader, source.step, input));
  const groups = Array.from({ length: match.groupCount }, () => ({ open: 0, isKept: false }));
  for (const group of match.reads) groups[group]!.open += 1;
  return { ...of, match, groups };
}

/** The dependency whose rules say which cells of a step an input means. */
export function findDependency({ dependencies }: PlannedStep, on: number, input: string): PlannedDependency {
  return (
    dependencies.find((one) => one.on === on && one.input === input) ??
    dependencies.find((one) => one.on === on && one.input === undefined)!
  );
}

/** Whether a rerun or a container may still need what the ended cell has mounted. */
function needsInputs({ plan, facts, scheduler }: Run, step: number, cell: number): boolean {
  // A container that an adoption has found may belong to a cell that the run ends in another way.
  if (facts.adopted !== undefined) return true;
  const state = scheduler.state(step, cell);
  if (state === 'skipped') return isBehindFailure({ plan, scheduler }, scheduler.skipCause(step, cell));
  if (state !== 'succeeded' && state !== 'cached') return true;
  const attempts = facts.known[step]?.[cell]?.attempts ?? [];
  return attempts.some(({ id, declined, outcome }) =>
    // A lost container may still be running.
    outcome ? outcome.result === 'failed' && outcome.class === 'infrastructure' : id !== undefined && !declined,
  );
}

function isBehindFailure({ plan, scheduler }: Pick<Run, 'plan' | 'scheduler'>, cause: SkipCause | undefined): boolean {
  if (cause?.kind === 'when' || cause?.kind === 'noItem' || cause?.kind === 'notNeeded') return false;
  if (cause?.kind !== 'dependency') return true;
  return !UNHARMED.has(scheduler.state(stepIndex(plan, cause.step)!, cause.cell));
}

const UNHARMED: ReadonlySet<CellState> = new Set(['succeeded', 'cached', 'skipped']);
