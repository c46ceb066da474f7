import type { Json } from '@sluice/core';
import { createRandom, type Random } from '../../../run/test/random.ts';
import { AXES, closure } from './axes.ts';
import { FAR, HOME, type ModelFile, type ModelInput, type ModelRun, type ModelStep } from './model-file.ts';

const LONGEST = 7;

/** Draws the runs of one home: the same two pipelines again and again, with what people change between runs. */
export function drawRuns(seed: string): ModelRun[] {
  const random = createRandom(seed);
  const steps = addAxes(addPaths(drawSteps(random), createRandom(`${seed}/paths`)), createRandom(`${seed}/axes`));
  // The other pipeline has the same steps and keys, and another program.
  const worlds = ['one', 'two'].map((name) => ({ name, steps, version: new Map<string, number>() }));
  const count = 2 + random.below(LONGEST - 1);
  const runs: ModelRun[] = [];
  let params = drawParams(random);
  let source = drawSource(random);
  for (let index = 0; index < count; index++) {
    const before = runs.at(-1);
    if (before && random.chance(0.4)) {
      runs.push(drawRepeat(before, random));
      continue;
    }
    const world = random.chance(0.8) ? worlds[0]! : worlds[1]!;
    if (random.chance(0.3)) params = { ...params, ...pickSome(random, drawParams(random)) };
    if (random.chance(0.2)) params = { ...params, xs: [...(params.xs as readonly Json[])].reverse() };
    if (random.chance(0.15)) source = drawSource(random);
    const names = Object.keys(world.steps);
    if (random.chance(0.15)) world.version.set(random.pick(names), index + 1);
    const earlier = runs.flatMap((run, at) => (run.file.name === world.name ? [at] : []));
    const from = random.chance(0.2) ? [random.pick(names)] : [];
    const isCalm = random.chance(0.5);
    runs.push({
      file: createFile(world.name, world.steps, world.version),
      params,
      source,
      clusterID: random.chance(0.85) ? HOME : FAR,
      ...(earlier.length > 0 && random.chance(0.3) && { reuse: { of: random.pick(earlier), from } }),
      ...(random.chance(0.15) && { leaveAfterMs: random.below(1500) }),
      collectsGarbage: random.chance(0.1),
      luck: isCalm ? '' : `${seed}/${index}`,
    });
  }
  return runs;
}

/** The same run again without failures, as after a fault that has been mended; perhaps with its cells in another order. */
function drawRepeat({ file, params, source, clusterID }: ModelRun, random: Random): ModelRun {
  const xs = [...(params.xs as readonly Json[])];
  const again = random.chance(0.4) ? { ...params, xs: xs.reverse() } : params;
  return { file, params: again, source, clusterID, collectsGarbage: false, luck: '' };
}

function drawParams(random: Random): Record<string, Json> {
  // An axis without values is rejected.
  const some = [1, 2, 3, 4].filter(() => random.chance(0.5));
  const xs = some.length > 0 ? some : [1];
  return {
    p: random.below(2),
    xs: random.chance(0.3) ? xs.reverse() : xs,
    go: random.chance(0.7),
    noise: `n${random.below(3)}`,
  };
}

function pickSome(random: Random, params: Record<string, Json>): Record<string, Json> {
  return Object.fromEntries(Object.entries(params).filter(() => random.chance(0.5)));
}

function drawSource(random: Random): Record<string, string> {
  const names = ['a.txt', 'deep/b.txt', 'deep/er/c.txt'].filter((_, index) => index === 0 || random.chance(0.6));
  return Object.fromEntries(names.map((name) => [name, `${name} ${random.below(3)}`]));
}

/** What the cells of an item read may start beyond the limit, so it changes nothing but the order. */
function limitItems(random: Random): typeof AXES {
  const limited = random.pick(['x', 'y', 'z', undefined]);
  if (limited === undefined) return AXES;
  const axis = AXES[limited]!;
  const long =
    typeof axis === 'string' || Array.isArray(axis) ? { items: axis } : (axis as Readonly<Record<string, Json>>);
  return { ...AXES, [limited]: { ...long, parallelism: 1 + random.below(2) } };
}

function createFile(
  name: string,
  steps: Readonly<Record<string, ModelStep>>,
  version: ReadonlyMap<string, number>,
): ModelFile {
  const entries = Object.entries(steps).map(([step, spec]) => {
    const now = `v${version.get(step) ?? 0}`;
    const command = spec.command.map((word, at) => (at === 0 ? `program-${name}` : at === 2 ? now : word));
    const { cache } = spec;
    const isKeyed = typeof cache === 'object' && cache.key !== undefined;
    return [step, { ...spec, command, ...(isKeyed && { cache: { key: `${cache.key} ${now}` } }) }] as const;
  });
  const outputs = entries.flatMap(([step, spec]) => Object.keys(spec.outputs).map((output) => `${step}.${output}`));
  return {
    version: 1,
    name,
    failFast: false,
    params: { p: 1, xs: { type: 'array', default: [1] }, go: true, noise: 'n0' },
    volumes: { raw: { source: './raw' } },
    ...(entries.some(([, { each }]) => each !== undefined) && { axes: limitItems(createRandom(outputs.join())) }),
    steps: Object.fromEntries(entries),
    outputs: Object.fromEntries(
      outputs.map((from) => [from.replace('.', '-'), { from, publish: `./published/${from}` }]),
    ),
  };
}

function drawSteps(random: Random): Record<string, ModelStep> {
  const steps: Record<string, ModelStep> = {};
  const count = 2 + random.below(5);
  for (let index = 0; index < count; index++) steps[`s${index}`] = drawStep(`s${index}`, steps, random);
  return steps;
}

/** Some inputs mount only the file that every output has, of steps without cells. */
function addPaths(steps: Readonly<Record<string, ModelStep>>, random: Random): Record<string, ModelStep> {
  const edge = (from: string): string => {
    const source = steps[from.slice(0, from.indexOf('.'))];
    return source === undefined || isFannedOut(source) || !random.chance(0.3) ? from : `${from}/data`;
  };
  return Object.fromEntries(
    Object.entries(steps).map(([name, step]) => {
      const inputs = Object.entries(step.inputs ?? {}).map(([input, from]) => [input, edge(from as string)]);
      return [name, { ...step, ...(step.inputs && { inputs: Object.fromEntries(inputs) }) }];
    }),
  );
}

const EACH = [['x'], ['y'], ['x', 'y'], ['z'], ['z', 'y'], ['y', 'x']] as const;
const WORDS: Readonly<Record<string, string>> = {
  x: '${{ each.x }}',
  y: '${{ each.y }}',
  z: '${{ each.z.id }}',
};

/** In half of all files, most plain steps and those with a matrix get axes instead, and their inputs rules. */
function addAxes(steps: Readonly<Record<string, ModelStep>>, random: Random): Record<string, ModelStep> {
  const made: Record<string, ModelStep> = {};
  const hasAxes = random.chance(0.5);
  const text = JSON.stringify(steps);
  for (const [name, step] of Object.entries(steps)) {
    const named = findNamed(step);
    // Between two steps with axes there must be a common one.
    const fitting = EACH.filter((each) =>
      named.every((one) => {
        const its = made[one]?.each;
        return its === undefined || [...closure(its)].some((axis) => closure(each).has(axis));
      }),
    );
    // Another step reads one value, or a file in the one output.
    const isRead = new RegExp(`(when|foreach)":"[^"]*steps\\.${name}\\.results|"${name}\\.\\w+/`).test(text);
    const isEach = hasAxes && !isRead && fitting.length > 0 && step.foreach === undefined && random.chance(0.85);
    const plain = isEach ? withEach(step, random.pick(fitting)) : step;
    made[name] = hasAxes ? addRules(plain, made, random) : plain;
  }
  return made;
}

function withEach({ matrix: _, ...step }: ModelStep, each: readonly string[]): ModelStep {
  const words = step.command.filter((word) => word !== '${{ matrix.x }}');
  const placed = step.placement && { placement: placeCells(each[0]!) };
  return { ...step, ...placed, each, command: [...words, ...each.map((axis) => WORDS[axis]!)] };
}

/** Some cells on each cluster. */
const IS_FAR: Readonly<Record<string, string>> = {
  x: "string(each.x) > '1'",
  y: "each.y == 'b'",
  z: "each.z.id.startsWith('q')",
};

function placeCells(axis: string): NonNullable<ModelStep['placement']> {
  const [first, second] = [`'${FAR}' : '${HOME}'`, `'${HOME}' : '${FAR}'`];
  return { ordered: [first, second].map((names) => `\${{ ${IS_FAR[axis]} ? ${names} }}`) };
}

/** The steps that a step names. */
function findNamed(step: ModelStep): readonly string[] {
  const inputs = Object.values(step.inputs ?? {}).map((from) => (from as string).split('.')[0]!);
  const texts = [...step.command, step.when ?? ''].join(' ');
  return [
    ...inputs,
    ...Object.keys(step.needs ?? {}),
    ...[...texts.matchAll(/steps\.(\w+)\./g)].map(([, name]) => name!),
  ];
}

function addRules(step: ModelStep, before: Readonly<Record<string, ModelStep>>, random: Random): ModelStep {
  const inputs = Object.entries(step.inputs ?? {}).map(([input, given]): [string, string | ModelInput] => {
    const from = given as string;
    const source = before[from.split('.')[0]!];
    if (source === undefined || from.includes('/')) return [input, from];
    const others = Object.entries(before).flatMap(([name, one]) =>
      one !== step &&
      one.each?.join() === source.each?.join() &&
      one.matrix === source.matrix &&
      one.foreach === undefined
        ? Object.keys(one.outputs).map((output) => `${name}.${output}`)
        : [],
    );
    const isBoth = step.each !== undefined && source.each !== undefined;
    const sharesX = isBoth && closure(step.each).has('x') && closure(source.each).has('x');
    switch (random.below(8)) {
      case 0:
        return [input, { from, optional: true }];
      case 1:
        return sharesX ? [input, { from, all: 'x' }] : [input, from];
      case 2:
        return sharesX ? [input, { from, where: { x: '${{ params.xs[0] }}' } }] : [input, from];
      case 3: {
        const other = others.length > 0 ? random.pick(others) : from;
        return other === from || source.foreach !== undefined ? [input, from] : [input, { from: [from, other] }];
      }
      default:
        return [input, from];
    }
  });
  return step.inputs === undefined ? step : { ...step, inputs: Object.fromEntries(inputs) };
}

function drawStep(name: string, before: Readonly<Record<string, ModelStep>>, random: Random): ModelStep {
  const names = Object.keys(before);
  /** Only these have results and outputs for certain where a dependent runs. */
  const certain = names.filter((one) => before[one]!.when === undefined && !before[one]!.continueOnError);
  const single = certain.filter((one) => !isFannedOut(before[one]!));
  const kind = random.pick(['plain', 'plain', 'matrix', 'matrix', 'foreach'] as const);
  const cells = drawCells(kind, { single, random });
  const words = ['program', name, 'v0', ...cells.words];
  const inputs = drawInputs(names, before, random);
  if (random.chance(0.4)) words.push('${{ params.p }}');
  if (certain.length > 0 && random.chance(0.3)) words.push(`\${{ steps.${random.pick(certain)}.results.n }}`);
  const linked = certain.filter((one) => before[one]!.outputs.o !== undefined);
  if (linked.length > 0 && random.chance(0.25)) words.push(`@\${{ steps.${random.pick(linked)}.outputs.o }}`);
  const when = random.chance(0.25)
    ? drawWhen(
        names,
        certain.filter((one) => !isFannedOut(before[one]!)),
        random,
      )
    : undefined;
  const named = [...words, when, cells.keys.foreach].join(' ');
  const needs = random.chance(0.3)
    ? drawNeeds(
        names.filter((one) => !named.includes(`steps.${one}.`)),
        inputs,
        random,
      )
    : undefined;
  return {
    command: words,
    ...(random.chance(0.3) && { env: { NOISE: '${{ params.noise }}' } }),
    ...(Object.keys(inputs).length > 0 && { inputs }),
    outputs: random.chance(0.15) ? {} : { o: '/out/o', ...(random.chance(0.25) && { q: '/out/q' }) },
    results: { n: 'integer', list: 'array' },
    ...cells.keys,
    ...(needs && { needs }),
    ...(when !== undefined && { when }),
    ...(random.chance(0.3) && { continueOnError: true }),
    ...(random.chance(0.3) && { retry: { limit: 1, on: ['failed'], backoff: { initial: '1s' } } }),
    ...drawCache(words, random),
    ...(random.chance(0.35) && {
      placement: {
        ordered: random.pick([
          [HOME, FAR],
          [FAR, HOME],
        ]),
      },
    }),
  };
}

const isFannedOut = ({ each, matrix, foreach }: ModelStep) =>
  each !== undefined || matrix !== undefined || foreach !== undefined;

function drawCells(
  kind: 'plain' | 'matrix' | 'foreach',
  { single, random }: { readonly single: readonly string[]; readonly random: Random },
): { readonly words: readonly string[]; readonly keys: Pick<ModelStep, 'matrix' | 'foreach'> } {
  if (kind === 'matrix') {
    const x = random.chance(0.7) ? '${{ params.xs }}' : [1, 2];
    return { words: ['${{ matrix.x }}'], keys: { matrix: { x } } };
  }
  if (kind === 'foreach' && single.length > 0) {
    return { words: ['${{ item }}'], keys: { foreach: `\${{ steps.${random.pick(single)}.results.list }}` } };
  }
  return { words: [], keys: {} };
}

function drawInputs(
  names: readonly string[],
  before: Readonly<Record<string, ModelStep>>,
  random: Random,
): Record<string, string> {
  const inputs: Record<string, string> = {};
  if (names.length > 0 && random.chance(0.25)) return inputs;
  if (random.chance(names.length === 0 ? 0.8 : 0.15))
    inputs.raw = random.pick(['volumes.raw', 'volumes.raw', 'volumes.raw/deep']);
  for (const [index, name] of names.entries()) {
    if (!random.chance(1 / (1 + names.length - index))) continue;
    const outputs = Object.keys(before[name]!.outputs);
    if (outputs.length > 0) inputs[`i${index}`] = `${name}.${random.pick(outputs)}`;
  }
  if (inputs.raw === 'volumes.raw/deep') inputs.raw = 'volumes.raw';
  return inputs;
}

function drawWhen(names: readonly string[], single: readonly string[], random: Random): string {
  if (names.length > 0 && random.chance(0.3)) {
    return `\${{ steps.${random.pick(names)}.status == '${random.pick(['succeeded', 'failed', 'skipped'])}' }}`;
  }
  if (single.length > 0 && random.chance(0.3)) return `\${{ steps.${random.pick(single)}.results.n > 2 }}`;
  return '${{ params.go }}';
}

function drawNeeds(
  names: readonly string[],
  inputs: Readonly<Record<string, string>>,
  random: Random,
): Record<string, string> {
  if (names.length === 0) return {};
  const name = random.pick(names);
  const isInput = Object.values(inputs).some((from) => from.startsWith(`${name}.`));
  return {
    [name]: random.pick(isInput ? ['succeeded', 'completed'] : ['succeeded', 'failed', 'completed', 'skipped']),
  };
}

/** A key names everything that the program depends on beside its inputs, and nothing that tells two steps apart. */
function drawCache(words: readonly string[], random: Random): Pick<ModelStep, 'cache'> {
  if (random.chance(0.3)) return {};
  const isOwn = words.slice(3).every((word) => ['${{ matrix.x }}', '${{ item }}', '${{ params.p }}'].includes(word));
  if (isOwn && random.chance(0.7)) return { cache: { key: 'k${{ params.p }}' } };
  return random.chance(0.5) ? { cache: true } : { cache: { ignore: ['NOISE'] } };
}
