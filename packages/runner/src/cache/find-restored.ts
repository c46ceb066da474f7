import { own, type Plan } from '@sluice/core';
import {
  type CacheSource,
  type ContextSource,
  type ReadSource,
  readableSources,
  TERMINAL_CELL_STATES,
} from '@sluice/run';

/**
 * The keys of the cells that must be computed again although a success of them can be reused, by step. Their numbers may differ
 * between a simulation and the run.
 */
export type RestoredCells = ReadonlyMap<number, ReadonlySet<string>>;

/** Whether a container can mount a temporary output of a success. */
export type TemporaryCheck = (step: number, source: CacheSource, output: string) => boolean | Promise<boolean>;

/**
 * Finds, after a simulation of the run, the reused cells whose removed temporary outputs are mounted by a cell that will run:
 * one that the simulation has not ended, or another one of these. The run and its preview use it, so that they cannot differ.
 */
export async function findRestored(run: ContextSource, hasTemporary: TemporaryCheck): Promise<RestoredCells> {
  const restored = new Map<number, Set<string>>();
  if (!hasTemporaryOutputs(run.plan)) return restored;
  const isRead = createReadTest();
  const open = [...findOpen(run)];
  // The list grows while it is read.
  for (const { step, cell } of open) {
    for (const source of readableSources(run, step, cell)) {
      const { outputs } = run.plan.steps[source.step]!.step;
      if (own(outputs, source.output)?.temporary !== true || isRead(source)) continue;
      for (const of of source.cells) {
        const cached = run.facts.known[source.step]?.[of]?.cached;
        const known = restored.get(source.step) ?? new Set<string>();
        const { key } = run.facts.cells[source.step]![of]!;
        if (cached === undefined || known.has(key)) continue;
        if (await hasTemporary(source.step, cached, source.output)) continue;
        restored.set(source.step, known.add(key));
        open.push({ step: source.step, cell: of });
      }
    }
  }
  return restored;
}

/** Whether a pipeline has temporary outputs. */
export function hasTemporaryOutputs({ steps }: Plan): boolean {
  return steps.some(({ step }) => Object.values(step.outputs).some(({ temporary }) => temporary));
}

/** The cells that have not ended. Of a `foreach` whose cells are not known, the one that represents all. */
function* findOpen({ plan, scheduler }: ContextSource): Generator<{ readonly step: number; readonly cell: number }> {
  for (const { index } of plan.steps) {
    const count = scheduler.cellCount(index) ?? 1;
    for (let cell = 0; cell < count; cell++)
      if (!TERMINAL_CELL_STATES.has(scheduler.state(index, cell))) yield { step: index, cell };
  }
}

/** Whether the same cells were read before: all cells of a step may read the same ten thousand. */
function createReadTest(): (source: ReadSource) => boolean {
  const groups = new WeakMap<readonly number[], Set<string>>();
  const whole = new Set<string>();
  return ({ step, output, cells, isWhole }) => {
    const name = `${step}/${output}`;
    const of = isWhole ? whole : (groups.get(cells) ?? new Set());
    if (!isWhole) groups.set(cells, of);
    const isKnown = of.has(name);
    of.add(name);
    return isKnown;
  };
}
