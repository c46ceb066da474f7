import type { Json } from '@sluice/core';
import type { ModelFile, ModelRun, ModelStep, Tree } from './model-file.ts';
import { describeTree, drawEnd, runProgram, sortFields, type Yield } from './program.ts';

type Ending = 'succeeded' | 'failed' | 'skipped';

interface CellOutcome {
  readonly key: string;
  readonly matrix: Readonly<Record<string, Json>>;
  readonly item?: Json;
  readonly ending: Ending;
  readonly made?: Yield;
}

export interface StepOutcome {
  readonly ending: Ending;
  readonly cells: readonly CellOutcome[];
}

/** What a run must come to, by reading its file from top to bottom: no scheduler, no cache, no volumes. */
export interface Expected {
  readonly steps: ReadonlyMap<string, StepOutcome>;
  /** Files of each output of the pipeline that is delivered. */
  readonly delivered: ReadonlyMap<string, Tree>;
}

/** `hasRun` says which cells did their work in this run: the others were reused, and cannot have failed. */
export function interpretFile(run: ModelRun, hasRun: (step: string, cell: string) => boolean): Expected {
  const { file } = run;
  const params = Object.fromEntries(
    Object.keys(file.params).map((name) => [name, run.params[name] ?? file.params[name] ?? null]),
  );
  const steps = new Map<string, StepOutcome>();
  for (const [name, step] of Object.entries(file.steps)) {
    const world: World = { run, params, steps, hasRun };
    steps.set(name, interpretStep(name, step, world));
  }
  const delivered = Object.entries(file.outputs).flatMap(([name, { from }]) => {
    const [step = '', output = ''] = from.split('.');
    const outcome = steps.get(step)!;
    return outcome.ending === 'succeeded' ? [[name, showOutput(file, { step, output, outcome })] as const] : [];
  });
  return { steps, delivered: new Map(delivered) };
}

interface World {
  readonly run: ModelRun;
  readonly params: Readonly<Record<string, Json>>;
  readonly steps: ReadonlyMap<string, StepOutcome>;
  readonly hasRun: (step: string, cell: string) => boolean;
}

function interpretStep(name: string, step: ModelStep, world: World): StepOutcome {
  const { file } = world.run;
  const isReady = findNeeds(step).every(({ on, condition }) =>
    isSatisfied(world.steps.get(on)!, condition, file.steps[on]!),
  );
  const skipped = (): StepOutcome => {
    const cells = step.foreach === undefined ? planCells(step, world) : [];
    return { ending: 'skipped', cells: cells.map((cell) => ({ ...cell, ending: 'skipped' })) };
  };
  if (!isReady) return skipped();
  if (step.when !== undefined && evaluate(step.when, { world }) !== true) return skipped();
  const cells = planCells(step, world).map((cell): CellOutcome => {
    const made = runProgram(
      step.command.map((word) => evaluateWord(word, { world, cell })),
      mountInputs(step, world),
      Object.keys(step.outputs),
    );
    return hasFailed(name, step, { cell: cell.key, world })
      ? { ...cell, ending: 'failed' }
      : { ...cell, ending: 'succeeded', made };
  });
  const ending = cells.some((cell) => cell.ending === 'failed') ? 'failed' : 'succeeded';
  return { ending, cells };
}

type PlannedCell = Pick<CellOutcome, 'key' | 'matrix' | 'item'>;

function planCells(step: ModelStep, world: World): PlannedCell[] {
  if (step.matrix) {
    const [[axis, given]] = Object.entries(step.matrix) as [[string, string | readonly Json[]]];
    const values = (typeof given === 'string' ? evaluate(given, { world }) : given) as readonly Json[];
    return values.map((value) => ({ key: `${axis}-${value}`, matrix: { [axis]: value } }));
  }
  if (step.foreach === undefined) return [{ key: '', matrix: {} }];
  const items = evaluate(step.foreach, { world }) as readonly string[];
  return items.map((item) => ({ key: item, matrix: {}, item }));
}

function hasFailed(step: string, { retry }: ModelStep, { cell, world }: { cell: string; world: World }): boolean {
  if (!world.hasRun(step, cell)) return false;
  const attempts = Array.from({ length: 1 + (retry?.limit ?? 0) }, (_, index) => index + 1);
  const end = (attempt: number) => drawEnd(world.run.luck, { step, cell, attempt });
  // What is lost with its machine is tried again by a budget of its own.
  return end(1) === 'Unknown' ? false : attempts.every((attempt) => end(attempt) === 'Failed');
}

/** Order by data, by expressions and by `needs`; what is named in several ways has to hold in each. */
function findNeeds(step: ModelStep): { readonly on: string; readonly condition: string }[] {
  const needs = Object.entries(step.needs ?? {}).map(([on, condition]) => ({ on, condition }));
  const explicit = new Set(needs.map(({ on }) => on));
  for (const from of Object.values(step.inputs ?? {})) {
    const [on = ''] = from.split('.');
    if (on !== 'volumes' && !explicit.has(on)) needs.push({ on, condition: 'succeeded' });
  }
  for (const text of [...step.command, step.when ?? '', step.foreach ?? '']) {
    for (const [, on = '', aspect] of text.matchAll(/steps\.(\w+)\.(\w+)/g)) {
      if (explicit.has(on)) continue;
      needs.push({ on, condition: aspect === 'status' ? 'completed' : 'succeeded' });
    }
  }
  return needs;
}

/** A dependent of several cells needs one success, and no failure that is not tolerated. */
function isSatisfied({ ending, cells }: StepOutcome, condition: string, step: ModelStep): boolean {
  if (condition === 'completed') return true;
  if (condition === 'failed') return ending === 'failed';
  if (condition === 'skipped') return ending === 'skipped';
  const hasCells = step.matrix !== undefined || step.foreach !== undefined;
  const isTolerated = hasCells && ending === 'failed' && step.continueOnError === true;
  return ending === 'succeeded' || (isTolerated && cells.some((cell) => cell.ending === 'succeeded'));
}

/** Every file that the step finds, by its path in the container. */
function mountInputs(step: ModelStep, { run, steps }: World): Tree {
  const found = new Map<string, string>();
  for (const [input, from] of Object.entries(step.inputs ?? {})) {
    const [source = '', file] = from.split('/');
    const [name = '', output = ''] = source.split('.');
    const tree =
      name === 'volumes'
        ? new Map(Object.entries(run.source))
        : showOutput(run.file, { step: name, output, outcome: steps.get(name)! });
    for (const [path, text] of tree) {
      if (file === undefined) found.set(`/in/${input}/${path}`, text);
      else if (path === file) found.set(`/in/${input}`, text);
    }
  }
  return found;
}

/** What an output looks like to a dependent, to `publish` and to `pull`. */
function showOutput(file: ModelFile, of: { step: string; output: string; outcome: StepOutcome }): Tree {
  const { step, output, outcome } = of;
  const { matrix, foreach } = file.steps[step]!;
  if (!matrix && foreach === undefined) return outcome.cells[0]?.made?.outputs.get(output) ?? new Map();
  const shown = new Map<string, string>();
  for (const { key, made } of outcome.cells) {
    for (const [path, text] of made?.outputs.get(output) ?? []) shown.set(`${key}/${path}`, text);
  }
  const cells = outcome.cells.map(({ key, matrix: values, item, ending, made }) => ({
    cell: key,
    matrix: values,
    ...(item !== undefined && { item }),
    status: ending,
    path: key,
    results: made?.results ?? {},
  }));
  const manifest: Json = JSON.parse(JSON.stringify({ step, output, cells })) as Json;
  shown.set('manifest.json', JSON.stringify(sortFields(manifest)));
  return shown;
}

interface Scope {
  readonly world: World;
  readonly cell?: PlannedCell;
}

/** A word of a command: `@` stands for the files of the places that follow. */
function evaluateWord(word: string, scope: Scope): Json {
  const place = /^@\$\{\{ steps\.(\w+)\.outputs\.(\w+) \}\}$/.exec(word);
  if (place) {
    const cells = scope.world.steps.get(place[1]!)!.cells;
    return ['@', ...cells.map(({ made }) => describeTree(made?.outputs.get(place[2]!) ?? new Map()))];
  }
  const value = word.includes('${{') ? evaluate(word, scope) : word;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The few forms of expressions that the model's files have. */
function evaluate(text: string, { world, cell }: Scope): Json {
  const expression = /^\$\{\{ (.*) \}\}$/.exec(text)![1]!;
  const compared = /^(.*) (==|>) (.*)$/.exec(expression);
  if (compared) {
    const value = read(compared[1]!, { world, ...(cell && { cell }) });
    return compared[2] === '==' ? value === compared[3]!.slice(1, -1) : Number(value) > Number(compared[3]);
  }
  return read(expression, { world, ...(cell && { cell }) });
}

function read(path: string, { world, cell }: Scope): Json {
  const [root, name = '', aspect, item = ''] = path.split('.');
  if (root === 'params') return world.params[name] ?? null;
  if (root === 'matrix') return cell!.matrix[name] ?? null;
  if (root === 'item') return cell!.item ?? null;
  const outcome = world.steps.get(name)!;
  if (aspect === 'status') return outcome.ending;
  const results = outcome.cells.map(({ made }) => (made ? (made.results as Record<string, Json>)[item]! : null));
  const { matrix, foreach } = world.run.file.steps[name]!;
  return matrix || foreach !== undefined ? results : results[0]!;
}
