import { hasSucceeded } from '../facts/has-succeeded.ts';
import { cellsInOrder } from '../facts/listed-cells.ts';
import { type CellOrigin, findOrigin } from '../facts/locate-output.ts';
import { readInputs } from '../facts/read-inputs.ts';
import type { RunFacts } from '../facts/run-facts.ts';
import { stepIndex } from '../facts/step-context.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';

/** A run with its state, as a replay restores it. */
export interface HistoryRun {
  readonly runId: string;
  readonly facts: RunFacts;
  readonly scheduler: Scheduler;
}

/** Files of a run: an output of a step or of one of its cells, or what an input of a cell mounts. */
export interface FilePort {
  readonly step: number;
  /** Absent: all cells of the step. */
  readonly cell?: number;
  readonly kind: 'input' | 'output';
  readonly name: string;
  /** Inside the input or output; of an input from several cells, it begins with the name of the cell. */
  readonly path: string;
}

/** The outputs that contain the files. */
export interface FileSource {
  readonly step: string;
  readonly output: string;
  /** Inside the output; empty for all of it. */
  readonly path: string;
  /** Of each cell that has succeeded, in their order. */
  readonly origins: readonly CellOrigin[];
}

/** Finds the outputs that a port reads or writes; undefined if it has no such port, or if it is a volume. */
export function findFileSource(run: HistoryRun, port: FilePort): FileSource | undefined {
  const { plan } = run.facts;
  if (port.kind === 'output') {
    const { step } = plan.steps[port.step]!;
    if (!Object.hasOwn(step.outputs, port.name)) return undefined;
    const cells = port.cell === undefined ? cellsInOrder(run.facts, port.step) : [port.cell];
    return { step: step.name, output: port.name, path: port.path, origins: originsOf(run, port.step, cells) };
  }
  const inputs = readInputs({ ...run, plan }, port.step, port.cell ?? 0);
  const source = inputs.find(({ name }) => name === port.name)?.source;
  if (source === undefined) return undefined;
  const { name } = plan.steps[source.step]!.step;
  const keys = run.facts.cells[source.step] ?? [];
  const [first = '', ...rest] = port.path.split('/');
  const named = source.isSingle ? [] : source.cells.filter((cell) => keys[cell]?.key === first);
  const below = named.length > 0 ? rest.join('/') : port.path;
  const path = [source.path ?? '', below].filter((part) => part !== '').join('/');
  const origins = originsOf(run, source.step, named.length > 0 ? named : source.cells);
  return { step: name, output: source.output, path, origins };
}

/** Identifies the cell that wrote an output, also in other runs. */
export function originKey({ runId, step, cell }: Pick<CellOrigin, 'runId' | 'step' | 'cell'>): string {
  return JSON.stringify([runId, step, cell]);
}

function originsOf(run: HistoryRun, step: number, cells: readonly number[]): CellOrigin[] {
  const source = { runId: run.runId, plan: run.facts.plan, facts: run.facts };
  return cells.flatMap((cell) => (hasSucceeded(run, step, cell) ? [findOrigin(source, step, cell)] : []));
}

/** The attempt that wrote what a cell of this run has published; undefined if the run has no such cell. */
export function findWriter({ facts }: HistoryRun, { step: name, cell: key }: Pick<CellOrigin, 'step' | 'cell'>) {
  const step = stepIndex(facts.plan, name);
  const cell = step === undefined ? -1 : (facts.cells[step] ?? []).findIndex((one) => one.key === key);
  if (step === undefined || cell === -1) return undefined;
  const known = facts.known[step]?.[cell];
  return { step, cell, attempt: known?.attempts.find(({ attempt }) => attempt === known.winner) };
}
