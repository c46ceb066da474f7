import { fail, type Json, namesInTemplate, ok, own, type Result, type Step } from '@sluice/core';
import {
  type CellIndex,
  type ContextSource,
  createRunContext,
  explainCell,
  type ReadInput,
  type ReplayedRun,
  readInputs,
} from '@sluice/run';
import { digestCell } from '../../reuse/digest-cell.ts';
import { createIdentities } from '../../reuse/fingerprint-cell.ts';
import type { LineageOf } from '../../reuse/lineage.ts';

type Parts = Result<ReadonlyMap<string, string>, string>;

/** A run whose cells are compared with those of another. */
export interface ComparableRun {
  readonly runId: string;
  readonly source: ContextSource;
  step(step: number): Step;
  keyOf(at: CellIndex): string;
  /** The parts of the fingerprint, long values included; the error says why they are unknown. */
  parts(at: CellIndex): Parts;
  /** By input, as the cell reads them. */
  inputs(at: CellIndex): ReadonlyMap<string, ReadInput>;
  /** Equal only for the same attempt of the same run. */
  identity(at: CellIndex): string;
  readonly lineage: LineageOf;
  /** What an expression reads; undefined if that cannot be said. */
  valueOf(at: CellIndex, name: readonly string[]): Json | undefined;
}

/** Two runs; `before` is the one with which the other is compared. */
export interface RunPair {
  readonly before: ComparableRun;
  readonly after: ComparableRun;
}

/** A cell in each of two runs. */
export interface CellPair {
  readonly old: CellIndex;
  readonly now: CellIndex;
}

/** Computes the parts of fingerprints from the records of a run, so that those of runs of older versions can be compared. */
export function createComparableRun({ runId, facts, scheduler }: ReplayedRun): ComparableRun {
  const source: ContextSource = { runId, plan: facts.plan, facts, scheduler };
  const whole = createIdentities(source, { isWhole: true });
  const known = new Map<string, Parts>();

  return {
    runId,
    source,
    step: (step) => facts.plan.steps[step]!.step,
    keyOf: ({ step, cell }) => facts.cells[step]?.[cell]?.key ?? '',
    identity: ({ step, cell }) => digestCell(source, step, cell),
    inputs: ({ step, cell }) => new Map(readInputs(source, step, cell).map((input) => [input.name, input])),
    lineage: whole.lineage,
    parts(at) {
      const id = `${at.step}/${at.cell}`;
      const found = known.get(id) ?? readParts(at);
      known.set(id, found);
      return found;
    },
    valueOf: (at, name) => readValue(source, at, name),
  };

  function readParts({ step, cell }: CellIndex): Parts {
    if (scheduler.state(step, cell) === 'waiting') {
      const why = explainCell(source, step, cell);
      return fail(`it has not been decided${why === undefined ? '' : ` (it ${why})`}`);
    }
    try {
      const made = whole.fingerprint(step, cell);
      if (!made.ok) return fail(made.error.message);
      return ok(new Map(made.value.components.map(({ name, value }) => [name, value])));
    } catch (error) {
      return fail((error as Error).message);
    }
  }
}

function readValue(source: ContextSource, at: CellIndex, [root, first = '', kind, last]: readonly string[]) {
  if (root === 'params') return own(source.plan.params, first);
  const context = createRunContext(source, 1, at);
  if (root === 'run' && first === 'id') return context.run.id;
  if (root === 'run' && first === 'plannedTime') return context.run.plannedTime;
  if (root !== 'steps') return undefined;
  const facts = context.steps(first);
  if (kind === 'status') return facts?.status;
  return kind === 'results' && last !== undefined ? own(facts?.results ?? {}, last) : undefined;
}

/** The templates of a part of a step's fingerprint; none for a part that is not a text of the pipeline. */
function templatesOf(step: Step, part: string): readonly string[] {
  if (part === 'command') return step.command ?? [];
  if (part === 'image') return step.image === undefined ? [] : [step.image];
  if (part === 'key') return step.cache?.key === undefined ? [] : [step.cache.key];
  const variable = part.startsWith('env.') ? own(step.env, part.slice('env.'.length)) : undefined;
  return variable === undefined ? [] : [variable];
}

/** A value that an expression of a text reads, and that differs between two runs. */
export interface ReadValue {
  readonly name: readonly string[];
  readonly before: Json | undefined;
  readonly after: Json | undefined;
}

/** What the expressions of a text read that differs; undefined if the text itself was changed. */
export function findReadValues(
  { before, after }: RunPair,
  part: string,
  { old, now }: CellPair,
): readonly ReadValue[] | undefined {
  const [earlier, texts] = [templatesOf(before.step(old.step), part), templatesOf(after.step(now.step), part)];
  if (JSON.stringify(earlier) !== JSON.stringify(texts)) return undefined;
  const names = new Map(texts.flatMap(namesInTemplate).map((name) => [name.join('.'), name]));
  return [...names.values()]
    .map((name) => ({ name, before: before.valueOf(old, name), after: after.valueOf(now, name) }))
    .filter((one) => JSON.stringify(one.before) !== JSON.stringify(one.after));
}
