import type { Json } from '@sluice/core';
import { combine, findMeaning, type Keys } from './axes.ts';
import type { ModelFile, ModelInput, ModelRun, ModelStep, Tree } from './model-file.ts';
import { describeTree, drawEnd, runProgram, sortFields, type Yield } from './program.ts';

type Ending = 'succeeded' | 'failed' | 'skipped';

interface CellOutcome {
  readonly key: string;
  readonly matrix: Readonly<Record<string, Json>>;
  readonly item?: Json;
  /** Of a step with `each`. */
  readonly keys?: Keys;
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
    return isComplete(file.steps[step]!, outcome) ? [[name, showOutput(file, { step, output, outcome })] as const] : [];
  });
  return { steps, delivered: new Map(delivered) };
}

interface World {
  readonly run: ModelRun;
  readonly params: Readonly<Record<string, Json>>;
  readonly steps: ReadonlyMap<string, StepOutcome>;
  readonly hasRun: (step: string, cell: string) => boolean;
}

/** All cells have succeeded; of a step with `each`, some may have been skipped. */
function isComplete({ each }: ModelStep, { ending, cells }: StepOutcome): boolean {
  if (each === undefined) return ending === 'succeeded';
  const ends = cells.map((cell) => cell.ending);
  return ends.includes('succeeded') && !ends.includes('failed');
}

function interpretStep(name: string, step: ModelStep, world: World): StepOutcome {
  if (step.each !== undefined) {
    const cells = planCells(step, world).map((cell) => {
      const outcome = interpretCells(name, step, { world, cells: [cell], reader: cell });
      return outcome.cells[0]!;
    });
    return { ending: endOf(cells), cells };
  }
  const outcome = interpretCells(name, step, { world, cells: undefined, reader: undefined });
  return { ...outcome, ending: outcome.cells.length > 0 ? endOf(outcome.cells) : outcome.ending };
}

/** The worst of the ends; without a cell, nothing was done. */
function endOf(cells: readonly CellOutcome[]): Ending {
  const ends = cells.map(({ ending }) => ending);
  if (ends.includes('failed')) return 'failed';
  return ends.includes('skipped') || ends.length === 0 ? 'skipped' : 'succeeded';
}

/** Cells that start together: all of a step, or one of a step with `each`. */
interface Together {
  readonly world: World;
  /** Absent: those of the step, once it is known that it starts. */
  readonly cells: readonly PlannedCell[] | undefined;
  readonly reader: PlannedCell | undefined;
}

function interpretCells(name: string, step: ModelStep, { world, cells: given, reader }: Together): StepOutcome {
  const isReady = findNeeds(step).every((need) => isSatisfied(need, { step, reader, world }));
  const skipped = (): StepOutcome => {
    const cells = given ?? (step.foreach === undefined ? planCells(step, world) : []);
    return { ending: 'skipped', cells: cells.map((cell) => ({ ...cell, ending: 'skipped' })) };
  };
  if (!isReady) return skipped();
  if (step.when !== undefined && evaluate(step.when, { world, step, cell: reader }) !== true) return skipped();
  const cells = (given ?? planCells(step, world)).map((cell): CellOutcome => {
    const made = runProgram(
      step.command.map((word) => evaluateWord(word, { world, step, cell })),
      mountInputs(step, { world, reader }),
      Object.keys(step.outputs),
    );
    return hasFailed(name, step, { cell: cell.key, world })
      ? { ...cell, ending: 'failed' }
      : { ...cell, ending: 'succeeded', made };
  });
  // An empty list of `foreach` succeeds.
  return { ending: cells.some((cell) => cell.ending === 'failed') ? 'failed' : 'succeeded', cells };
}

type PlannedCell = Pick<CellOutcome, 'key' | 'matrix' | 'item' | 'keys'>;

function planCells(step: ModelStep, world: World): PlannedCell[] {
  if (step.each !== undefined) {
    const { each } = step;
    const all = combine(each, world.params.xs as readonly Json[]);
    return all.map((keys) => ({ key: each.map((axis) => keys[axis]).join(','), matrix: {}, keys }));
  }
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

interface ModelNeed {
  /** Several: the first of them whose cells were not all skipped. */
  readonly on: readonly string[];
  readonly condition: string;
  readonly rules?: ModelInput;
}

/** Order by data, by expressions and by `needs`; what is named in several ways has to hold in each. */
function findNeeds(step: ModelStep): readonly ModelNeed[] {
  const needs: ModelNeed[] = Object.entries(step.needs ?? {}).map(([on, condition]) => ({ on: [on], condition }));
  const explicit = new Set(Object.keys(step.needs ?? {}));
  for (const input of Object.values(step.inputs ?? {})) {
    const rules = typeof input === 'string' ? undefined : input;
    const on = sourcesOf(input).map((from) => from.split('.')[0]!);
    if (on[0] === 'volumes') continue;
    if (rules !== undefined) needs.push({ on, condition: 'succeeded', rules });
    else if (!explicit.has(on[0]!)) needs.push({ on, condition: 'succeeded' });
  }
  for (const text of [...step.command, step.when ?? '', step.foreach ?? '']) {
    for (const [, on = '', aspect] of text.matchAll(/steps\.(\w+)\.(\w+)/g)) {
      if (explicit.has(on)) continue;
      needs.push({ on: [on], condition: aspect === 'status' ? 'completed' : 'succeeded' });
    }
  }
  return needs;
}

function sourcesOf(input: string | ModelInput): readonly string[] {
  return [typeof input === 'string' ? input : input.from].flat();
}

interface Reading {
  readonly step: ModelStep;
  readonly reader: PlannedCell | undefined;
  readonly world: World;
}

/** The cells of a step that a reader means, and whether they are one. */
interface Meant {
  readonly cells: readonly CellOutcome[];
  readonly isSingle: boolean;
  readonly nameOf: (cell: CellOutcome) => string;
}

function findMeant(on: string, { step, reader, world }: Reading, rules?: ModelInput): Meant {
  const outcome = world.steps.get(on)!;
  const source = world.run.file.steps[on]!;
  const each = source.each ?? [];
  if (reader?.keys === undefined || source.each === undefined) {
    const isSingle = source.each === undefined && source.matrix === undefined && source.foreach === undefined;
    return {
      cells: outcome.cells,
      isSingle,
      nameOf: ({ key, keys }) => (keys ? each.map((axis) => keys[axis]).join('/') : key),
    };
  }
  const firstX = String((world.params.xs as readonly Json[])[0]);
  const { isMeant, isSingle, differing } = findMeaning({ step, keys: reader.keys }, source, { rules, firstX });
  const cells = outcome.cells.filter(({ keys }) => isMeant(keys!));
  return { cells, isSingle, nameOf: ({ keys }) => differing.map((axis) => keys![axis]).join('/') };
}

/** A dependent of several cells needs one success, and no failure that is not tolerated. */
function isSatisfied({ on, condition, rules }: ModelNeed, reading: Reading): boolean {
  if (rules?.optional) return true;
  const chosen = on.length === 1 ? on[0] : chooseSource(on, reading, rules);
  if (chosen === undefined) return false;
  const { cells, isSingle } = findMeant(chosen, reading, rules);
  const source = reading.world.run.file.steps[chosen]!;
  const ends = new Set(cells.map(({ ending }) => ending));
  // An empty list of `foreach` has an end of its own.
  if (source.foreach !== undefined && cells.length === 0) ends.add(reading.world.steps.get(chosen)!.ending);
  if (condition === 'completed') return true;
  if (condition === 'failed') return ends.has('failed');
  if (condition === 'skipped') return !ends.has('failed') && ends.has('skipped');
  if (isSingle) return ends.has('succeeded');
  return ends.has('succeeded') && (!ends.has('failed') || source.continueOnError === true);
}

function chooseSource(on: readonly string[], reading: Reading, rules?: ModelInput): string | undefined {
  return on.find((one) => findMeant(one, reading, rules).cells.some(({ ending }) => ending !== 'skipped'));
}

/** Every file that the step finds, by its path in the container. */
function mountInputs(step: ModelStep, { world, reader }: Pick<Reading, 'world' | 'reader'>): Tree {
  const found = new Map<string, string>();
  for (const [input, given] of Object.entries(step.inputs ?? {})) {
    const rules = typeof given === 'string' ? undefined : given;
    const sources = sourcesOf(given);
    const reading = { step, reader, world };
    const chosen = chooseSource(
      sources.map((from) => from.split('.')[0]!).filter((name) => name !== 'volumes'),
      reading,
      rules,
    );
    const from = sources.find((one) => one.split('.')[0] === chosen) ?? sources[0]!;
    const [source = '', file] = from.split('/');
    const [name = '', output = ''] = source.split('.');
    const tree =
      name === 'volumes'
        ? new Map(Object.entries(world.run.source))
        : showCells({ step: name, output, meant: findMeant(name, reading, rules) });
    for (const [path, text] of tree) {
      if (file === undefined) found.set(`/in/${input}/${path}`, text);
      else if (path === file) found.set(`/in/${input}`, text);
    }
  }
  return found;
}

/** What an output looks like to `publish` and to `pull`. */
function showOutput(file: ModelFile, of: { step: string; output: string; outcome: StepOutcome }): Tree {
  const { step, output, outcome } = of;
  const { each, matrix, foreach } = file.steps[step]!;
  const isSingle = each === undefined && matrix === undefined && foreach === undefined;
  const nameOf = ({ key, keys }: CellOutcome): string => (keys ? each!.map((axis) => keys[axis]).join('/') : key);
  return showCells({ step, output, meant: { cells: outcome.cells, isSingle, nameOf } });
}

/** What an output of some cells looks like to a dependent. */
function showCells({ step, output, meant }: { step: string; output: string; meant: Meant }): Tree {
  const { cells: outcomes, isSingle, nameOf } = meant;
  if (isSingle) return outcomes[0]?.made?.outputs.get(output) ?? new Map();
  const shown = new Map<string, string>();
  for (const cell of outcomes) {
    for (const [path, text] of cell.made?.outputs.get(output) ?? []) shown.set(`${nameOf(cell)}/${path}`, text);
  }
  const cells = outcomes.map((cell) => ({
    cell: cell.key,
    matrix: cell.matrix,
    ...(cell.item !== undefined && { item: cell.item }),
    ...(cell.keys && { axes: cell.keys }),
    status: cell.ending,
    path: nameOf(cell),
    results: cell.made?.results ?? {},
  }));
  const manifest: Json = JSON.parse(JSON.stringify({ step, output, cells })) as Json;
  shown.set('manifest.json', JSON.stringify(sortFields(manifest)));
  return shown;
}

interface Scope {
  readonly world: World;
  readonly step?: ModelStep;
  readonly cell?: PlannedCell | undefined;
}

/** A word of a command: `@` stands for the files of the places that follow. */
function evaluateWord(word: string, scope: Scope): Json {
  const place = /^@\$\{\{ steps\.(\w+)\.outputs\.(\w+) \}\}$/.exec(word);
  if (place) {
    const cells = readCells(place[1]!, scope).cells;
    return ['@', ...cells.map(({ made }) => describeTree(made?.outputs.get(place[2]!) ?? new Map()))];
  }
  const value = word.includes('${{') ? evaluate(word, scope) : word;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The few forms of expressions that the model's files have. */
function evaluate(text: string, scope: Scope): Json {
  const expression = /^\$\{\{ (.*) \}\}$/.exec(text)![1]!;
  const compared = /^(.*) (==|>) (.*)$/.exec(expression);
  if (compared) {
    const value = read(compared[1]!, scope);
    return compared[2] === '==' ? value === compared[3]!.slice(1, -1) : Number(value) > Number(compared[3]);
  }
  return read(expression, scope);
}

function readCells(name: string, { world, step, cell }: Scope): Meant {
  return findMeant(name, { step: step!, reader: cell, world });
}

function read(path: string, scope: Scope): Json {
  const { world, cell } = scope;
  const [root, name = '', aspect, item = ''] = path.split('.');
  if (root === 'params') return world.params[name] ?? null;
  if (root === 'matrix') return cell!.matrix[name] ?? null;
  if (root === 'item') return cell!.item ?? null;
  if (root === 'each') return name === 'x' ? Number(cell!.keys!.x) : cell!.keys![name]!;
  const { cells, isSingle } = readCells(name, scope);
  if (aspect === 'status') {
    const isPart = cell?.keys !== undefined && world.run.file.steps[name]!.each !== undefined;
    return isPart ? endOf(cells) : world.steps.get(name)!.ending;
  }
  const results = cells.map(({ made }) => (made ? (made.results as Record<string, Json>)[item]! : null));
  return isSingle ? (results[0] ?? null) : results;
}
