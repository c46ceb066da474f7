import { isMatched, type Json, matchOf, own, type Plan, type RunContext, type StepFacts } from '@sluice/core';
import type { ContainerFacts } from '../records/journal-record.ts';
import { worstState } from '../scheduler/model/worst-state.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import { hasSucceeded } from './has-succeeded.ts';
import { cellsInOrder, cellsMeant } from './listed-cells.ts';
import { isFannedOut, locateOutput } from './locate-output.ts';
import { stepIsOutOfMemory } from './out-of-memory.ts';
import type { RunFacts } from './run-facts.ts';
import { stepReason, stepStatus } from './step-status.ts';

/** The parts of a run from which the context of its expressions is built. */
export interface ContextSource {
  readonly runId: string;
  readonly plan: Plan;
  readonly facts: RunFacts;
  readonly scheduler: Scheduler;
}

const indexes = new WeakMap<Plan, Map<string, number>>();

/** The index of a step by its name; undefined if the plan has no such step. */
export function stepIndex(plan: Plan, name: string): number | undefined {
  let index = indexes.get(plan);
  if (!index) {
    index = new Map(plan.steps.map((step) => [step.step.name, step.index]));
    indexes.set(plan, index);
  }
  return index.get(name);
}

/** A cell, by the indexes of its step and of itself. */
export interface CellIndex {
  readonly step: number;
  readonly cell: number;
}

/**
 * The context in which expressions are evaluated, for a cell of a step with `each`: of the steps, those cells that it
 * means. Its parts are computed when an expression reads them.
 */
export function createRunContext(source: ContextSource, attempt: number, reader?: CellIndex): RunContext {
  const { plan, runId, scheduler } = source;
  return {
    // Lazy: most cells have no expression that reads it.
    get run() {
      const plannedTime = plannedTimeOf(source.facts);
      return { ...describeRun({ runId, plan, plannedTime }), status: scheduler.status };
    },
    attempt,
    steps: (name) => {
      const step = stepIndex(plan, name);
      return step === undefined ? undefined : describeStep(source, meantCells(source, step, reader));
    },
  };
}

/** The part of an expression's context that is known when the run begins. */
export function describeRun(run: { runId: string; plan: Plan; plannedTime: number }): RunContext['run'] {
  const plannedTime = new Date(run.plannedTime).toISOString().replace(/\.\d+Z$/, 'Z');
  return { id: run.runId, name: run.plan.pipeline.name, plannedTime };
}

/** The run's planned time; 0 before its first record. */
export function plannedTimeOf({ header }: RunFacts): number {
  return header?.plannedTime ?? 0;
}

/** The cells of a step that an expression means. */
interface MeantCells {
  readonly step: number;
  readonly cells: readonly number[];
  readonly isSingle: boolean;
  /** The state of the step is meant, not of some cells. */
  readonly isWhole: boolean;
}

function meantCells(source: ContextSource, step: number, reader: CellIndex | undefined): MeantCells {
  const { plan, facts } = source;
  const of = reader && plan.steps[reader.step]!;
  if (reader !== undefined && of !== undefined && isMatched(of, plan.steps[step]!)) {
    const dependency = of.dependencies.find(({ on, input }) => on === step && input === undefined);
    if (dependency !== undefined) {
      const { isSingle } = matchOf(plan, of, dependency);
      return { step, cells: cellsMeant(facts, reader, dependency), isSingle, isWhole: false };
    }
  }
  return { step, cells: cellsInOrder(facts, step), isSingle: !isFannedOut(source, step), isWhole: true };
}

function describeStep(source: ContextSource, { step, cells, isSingle, isWhole }: MeantCells): StepFacts {
  const { facts, scheduler, plan } = source;
  const spec = plan.steps[step]!.step;
  const results: Record<string, Json> = {};
  for (const name of Object.keys(spec.results)) {
    const values = cells.map((cell) => own(facts.known[step]?.[cell]?.results, name) ?? null);
    results[name] = isSingle ? (values[0] ?? null) : values;
  }
  const state = isWhole
    ? scheduler.state(step)
    : worstState((one) => cells.some((cell) => scheduler.state(step, cell) === one));
  const container = facts.known[step]?.[cells[0] ?? 0]?.attempts.at(-1)?.container;
  return {
    status: stepStatus(state),
    reused: state === 'cached',
    // A step may have a hundred thousand cells, and hardly any expression asks for it.
    get reason() {
      return stepReason(state, () => stepIsOutOfMemory(source, step));
    },
    results,
    // Lazy: ten thousand cells have as many places, and few expressions read them.
    get outputs() {
      const names = Object.keys(spec.outputs);
      return Object.fromEntries(
        names.map((output) => [output, describeOutput(source, { step, cells, isSingle, output })]),
      );
    },
    ...(container?.ports && { ports: describePorts(container.ports) }),
  };
}

/** The published place as `<volume>:<path>`; for a step with cells a list, `null` for each cell without outputs. */
function describeOutput(
  source: ContextSource,
  { step, cells, isSingle, output }: Omit<MeantCells, 'isWhole'> & { readonly output: string },
): Json {
  const describe = (cell: number) => {
    const { volumeID, path } = locateOutput(source, { step, cell, output });
    return `${volumeID}:${path}`;
  };
  if (isSingle) return cells[0] === undefined ? null : describe(cells[0]);
  return cells.map((cell) => (hasSucceeded(source, step, cell) ? describe(cell) : null));
}

function describePorts(ports: NonNullable<ContainerFacts['ports']>): NonNullable<StepFacts['ports']> {
  return Object.fromEntries(Object.entries(ports).map(([name, port]) => [name, { ...port, ...urlOf(port) }]));
}

/** The URL of a port: by its public host name, otherwise on the machine that the container shares with its dependents. */
export function urlOf(port: { readonly port?: number | undefined; readonly host?: string | undefined }): {
  readonly url?: string;
} {
  if (port.host) return { url: `https://${port.host}` };
  return port.port === undefined ? {} : { url: `http://127.0.0.1:${port.port}` };
}
