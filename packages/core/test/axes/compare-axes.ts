import type { CellMatch, Diagnostic, Pipeline, Plan, PlannedStep, Result } from '../../src/index.ts';
import { resolvePipeline } from '../../src/parse/resolve-pipeline.ts';
import type { RawPipeline } from '../../src/schema/pipeline-schema.ts';
import { type AxesDocument, type InputDocument, type NaiveAxes, naiveAxes, RefusedAxes } from './naive-axes.ts';

/** What is compared with the naive evaluator: this package, or a copy with a bug. */
export interface AxesSubject {
  readonly createPlan: (pipeline: Pipeline) => Result<Plan, readonly Diagnostic[]>;
  readonly matchOf: (plan: Plan, reader: PlannedStep, dependency: PlannedStep['dependencies'][number]) => CellMatch;
  readonly matchedCells: (match: CellMatch, cell: number) => readonly number[];
}

/** The first difference between the subject and the naive evaluator. */
export function compareAxes(subject: AxesSubject, document: AxesDocument): string | undefined {
  const wanted = refusedOr(() => describeNaive(document, naiveAxes(document)));
  const plan = subject.createPlan(resolvePipeline(toPipeline(document)));
  const found = plan.ok ? describePlan(subject, plan.value, document) : undefined;
  if (wanted === undefined || found === undefined) {
    if (wanted === undefined && found === undefined) return undefined;
    return plan.ok
      ? 'planned what the rules refuse'
      : `refused: ${plan.error.map(({ message }) => message).join('; ')}`;
  }
  const different = wanted.findIndex((line, index) => line !== found[index]);
  return different < 0 ? undefined : `wanted ${wanted[different]}\nfound  ${found[different]}`;
}

export function refusedOr<T>(call: () => T): T | undefined {
  try {
    return call();
  } catch (error) {
    if (error instanceof RefusedAxes) return undefined;
    throw error;
  }
}

/** Names are not checked: pipelines that say too little about an edge have a meaning, too. */
export function toPipeline({ axes, steps }: AxesDocument): RawPipeline {
  const runnable = Object.entries(steps).map(([name, step]) => [name, { ...step, command: ['x'], outputs: ['out'] }]);
  return { version: 1, name: 'random', axes, steps: Object.fromEntries(runnable) } as unknown as RawPipeline;
}

function sourcesOf({ from }: InputDocument): readonly string[] {
  return [from].flat().map((source) => source.slice(0, source.indexOf('.')));
}

function describeNaive({ steps }: AxesDocument, naive: NaiveAxes): readonly string[] {
  return Object.entries(steps).flatMap(([name, { each, inputs = {} }]) => {
    if (each === undefined) return [`${name} is not matched`];
    const cells = naive.cellsOf(name).map((cell) => {
      const items = [...cell.keys].filter(([, key]) => key !== null).map(([axis, key]) => `${axis}=${key}`);
      return `${cell.name}(${items.sort().join()})`;
    });
    const edges = Object.entries(inputs).flatMap(([input, document]) =>
      sourcesOf(document).map((source) => {
        const edge = `${name}.${input} from ${source}`;
        if (steps[source]!.each === undefined) return `${edge} is not matched`;
        const { isSingle, cells: matched } = naive.match(name, source, document);
        return describeEdge(edge, isSingle, matched);
      }),
    );
    return [`${name}: ${cells.join(' ')}`, ...edges];
  });
}

function describeEdge(edge: string, isSingle: boolean, matched: readonly (readonly string[])[]): string {
  if (matched.length === 0) return `${edge}: no cells`;
  return `${edge}, ${isSingle ? 'single' : 'directory'}: ${matched.map((cells) => `[${cells.join(' ')}]`).join(' ')}`;
}

function describePlan(subject: AxesSubject, plan: Plan, { steps }: AxesDocument): readonly string[] {
  return plan.steps.flatMap((reader) => {
    const { name, each } = reader.step;
    if (each === undefined) return [`${name} is not matched`];
    const cells = reader.cells!.map(({ key, each: items }) => {
      const shown = Object.entries(items!).map(([axis, item]) => `${axis}=${plan.axes![axis]!.keys[item]}`);
      return `${key}(${shown.sort().join()})`;
    });
    const edges = Object.entries(steps[name]!.inputs ?? {}).flatMap(([input, document]) =>
      sourcesOf(document).map((source) => {
        const edge = `${name}.${input} from ${source}`;
        const on = plan.steps.findIndex(({ step }) => step.name === source);
        const hasRules = document.where !== undefined || document.all !== undefined || Array.isArray(document.from);
        const dependency = reader.dependencies.find(
          (one) => one.on === on && one.input === (hasRules ? input : undefined),
        );
        if (dependency === undefined) return `${edge} is no dependency`;
        if (plan.steps[on]!.step.each === undefined) return `${edge} is not matched`;
        const match = subject.matchOf(plan, reader, dependency);
        const matched = reader.cells!.map((_, cell) =>
          subject.matchedCells(match, cell).map((one) => plan.steps[on]!.cells![one]!.key),
        );
        return describeEdge(edge, match.isSingle, matched);
      }),
    );
    return [`${name}: ${cells.join(' ')}`, ...edges];
  });
}
