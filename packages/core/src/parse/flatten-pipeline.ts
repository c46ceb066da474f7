import type { Fault } from '../checks/fault.ts';
import { suggestName } from '../checks/nearest-name.ts';
import { expressionOf, rewriteTemplates } from '../expressions/rewrite-templates.ts';
import type { Json } from '../model/json.ts';
import { own } from '../model/own.ts';
import type { Pipeline } from '../model/pipeline.ts';
import { allSteps } from '../plan/all-steps.ts';
import { collectDependencies } from '../plan/collect-dependencies.ts';
import type { RawPipeline } from '../schema/pipeline-schema.ts';
import type { RawStep } from '../schema/step-schema.ts';
import { besideFile } from './beside-file.ts';
import type { BoundWith } from './bind-with.ts';
import { besideEnvironment } from './environments.ts';
import { isRawMap, type RawMap } from './raw-map.ts';
import { applyDefaults, optional, splitEdge } from './resolve-step.ts';

/** A step with `uses`, and the pipeline that it uses. */
export interface UsedPipeline {
  /** Name of the step that uses it. */
  readonly parent: string;
  readonly step: RawStep;
  /** The path as written: local directories of the pipeline are relative to it. */
  readonly uses: string;
  readonly raw: RawPipeline;
  readonly pipeline: Pipeline;
  readonly replaceParams: BoundWith['replaceParams'];
}

/** The parts of a used pipeline under their names in the using one. */
export interface Flattened {
  /** Named `<parent>-<step>`, in the used file's order. */
  readonly steps: Readonly<Record<string, RawStep>>;
  readonly finally: Readonly<Record<string, RawStep>>;
  readonly volumes: RawMap;
  /** Under their own names, which its steps use. */
  readonly axes: RawMap;
  /** By `<parent>.<output>`: the edge that replaces it. */
  readonly outputs: ReadonlyMap<string, string>;
  /** By declared result: `<step>.<result>`, with the step's name in the using pipeline. */
  readonly results: ReadonlyMap<string, string>;
  /** By result that the pipeline does not declare: what its file must contain to declare it. */
  readonly missingResults: ReadonlyMap<string, string>;
  /** By port: the steps that have it. */
  readonly ports: ReadonlyMap<string, readonly string[]>;
  /** The steps that replace the parent in `needs`: those without dependents in the used pipeline. */
  readonly last: readonly string[];
}

/** Converts the steps of a used pipeline to steps of the using one. */
export function flattenPipeline(used: UsedPipeline): Flattened {
  const { parent, raw, pipeline } = used;
  const rename = (name: string): string => `${parent}-${name}`;
  const all = allSteps(pipeline);
  const dependencies = collectDependencies(pipeline);
  const first = new Set(all.filter((_, index) => dependencies[index]?.length === 0).map(({ name }) => name));
  const dependedOn = new Set(dependencies.flat().map(({ on }) => on));
  const take = (map: RawPipeline['steps']): Readonly<Record<string, RawStep>> =>
    Object.fromEntries(
      Object.entries(map ?? {}).map(([name, step]) => [
        rename(name),
        adopt(step as RawStep, { used, rename, first: first.has(name) }),
      ]),
    );
  const inputs = used.step.inputs ?? {};
  const volumes = Object.entries(raw.volumes ?? {}).filter(([name]) => !Object.hasOwn(inputs, name));
  return {
    steps: take(raw.steps),
    finally: take(raw.finally),
    axes: adoptAxes(used, rename),
    volumes: Object.fromEntries(volumes.map(([name, volume]) => [rename(name), adoptVolume(volume, used) as Json])),
    outputs: new Map(
      Object.entries(pipeline.outputs).map(
        ([
          name,
          {
            from: { step, output, path },
          },
        ]) => [name, `${rename(step)}.${output}${path === undefined ? '' : `/${path}`}`],
      ),
    ),
    results: new Map(
      Object.entries(pipeline.results ?? {}).map(([name, { step, result }]) => [name, `${rename(step)}.${result}`]),
    ),
    missingResults: new Map(
      pipeline.steps.flatMap(({ name, results }) =>
        Object.keys(results).map((result) => [result, `results: { ${result}: ${name}.${result} }`] as const),
      ),
    ),
    ports: portsOf(pipeline, rename),
    last: pipeline.steps.filter((_, index) => !dependedOn.has(index)).map(({ name }) => rename(name)),
  };
}

type RawVolume = NonNullable<RawPipeline['volumes']>[string];
type Source = NonNullable<RawVolume['source']>;

/** A volume that the used pipeline writes to is one for each item for which it is used. */
function adoptVolume(volume: RawVolume, { step, uses }: UsedPipeline): RawVolume {
  if (volume.source !== undefined) return { ...volume, source: adoptSource(volume.source, uses) };
  return volume.id === undefined ? { ...volume, ...adoptEach(volume.each, step.each) } : volume;
}

function adoptSource(source: Source, uses: string): Source {
  return typeof source === 'string' ? besideFile(uses, source) : { ...source, path: besideFile(uses, source.path) };
}

function portsOf({ steps }: Pipeline, rename: (name: string) => string): ReadonlyMap<string, readonly string[]> {
  const holders = new Map<string, string[]>();
  for (const { name, ports } of steps) {
    for (const port of Object.keys(ports)) holders.set(port, [...(holders.get(port) ?? []), rename(name)]);
  }
  return holders;
}

interface Adoption {
  readonly used: UsedPipeline;
  readonly rename: (name: string) => string;
  /** Depends on no other step of the used pipeline, and so inherits the needs of its parent. */
  readonly first: boolean;
}

function adopt(step: RawStep, { used, rename, first }: Adoption): RawStep {
  const { raw, replaceParams } = used;
  const approval = step.approval !== undefined && step.approval !== false;
  const whole = applyDefaults(step, raw.defaults as RawStep | undefined);
  const withEnv = approval ? whole : { ...optional('placement', raw.placement), ...whole, ...mergedEnv(raw, whole) };
  const beside = besideEnvironment(withEnv, used.uses);
  const rewritten = rewriteTemplates(beside as unknown as Json, (reference) => {
    const [name, ...rest] = reference.keys;
    if (reference.root !== 'steps') return replaceParams(reference);
    return name === undefined ? undefined : { source: `steps[${JSON.stringify(rename(name))}]`, rest };
  }) as unknown as RawStep;
  const inputs = Object.entries(rewritten.inputs ?? {}).map(([name, input]) => [name, adoptInput(input, used, rename)]);
  return {
    ...rewritten,
    ...(inputs.length > 0 && { inputs: Object.fromEntries(inputs) }),
    ...adoptNeeds(rewritten.needs, { parentNeeds: first ? used.step.needs : undefined, rename }),
    ...adoptWhen(rewritten.when, used.step.when),
    ...adoptEach(rewritten.each, used.step.each),
  };
}

/** An axis over files reads the volume under its name in the using pipeline. */
function adoptAxes(used: UsedPipeline, rename: (name: string) => string): RawMap {
  const axes = rewriteTemplates((used.raw.axes ?? {}) as unknown as Json, used.replaceParams) as RawMap;
  return Object.fromEntries(
    Object.entries(axes).map(([name, axis]) => {
      const items = isRawMap(axis) ? own(axis, 'items') : undefined;
      const files = isRawMap(items) ? own(items, 'files') : undefined;
      if (typeof files !== 'string') return [name, axis];
      return [name, { ...(axis as RawMap), items: { files: adoptInput(files, used, rename) as Json } }];
    }),
  );
}

function mergedEnv(raw: RawPipeline, step: RawStep): Pick<RawStep, 'env'> {
  return raw.env === undefined ? {} : { env: { ...raw.env, ...step.env } };
}

function adoptInput(
  input: NonNullable<RawStep['inputs']>[string],
  used: UsedPipeline,
  rename: (name: string) => string,
): unknown {
  if (Array.isArray(input)) return input.map(rename);
  if (typeof input !== 'string') {
    const from = adoptInput(input.from, used, rename);
    return typeof from === 'string' || Array.isArray(from) ? { ...input, from } : { ...input, ...(from as object) };
  }
  if (!input.startsWith('volumes.')) return rename(input);
  const [, name = '', rest = ''] = /^volumes\.([a-z0-9-]+)(.*)$/s.exec(input) ?? [];
  const given = own(used.step.inputs, name);
  if (given === undefined) return `volumes.${rename(name)}${rest}`;
  const { from, ...rules } = typeof given === 'string' || Array.isArray(given) ? { from: given } : given;
  const extended = typeof from === 'string' ? `${from}${rest}` : from.map((source) => `${source}${rest}`);
  const { path: _, ...kept } = rules as { readonly path?: string };
  return Object.keys(kept).length > 0 ? { from: extended, ...kept } : extended;
}

function adoptNeeds(
  own: RawStep['needs'],
  { parentNeeds, rename }: { parentNeeds: RawStep['needs']; rename: (name: string) => string },
): Pick<RawStep, 'needs'> {
  const entries = (needs: RawStep['needs']): [string, string][] =>
    typeof needs === 'string' || Array.isArray(needs)
      ? [needs].flat().map((name: string) => [name, 'succeeded'])
      : Object.entries(needs ?? {});
  const all = [...entries(own).map(([name, condition]) => [rename(name), condition]), ...entries(parentNeeds)];
  return all.length === 0 ? {} : { needs: Object.fromEntries(all) as never };
}

/** The axes of the step that uses the pipeline come first in the names of the cells. */
function adoptEach(own: RawStep['each'], parent: RawStep['each']): Pick<RawStep, 'each'> {
  const all = [...new Set([parent ?? [], own ?? []].flat())];
  return all.length === 0 ? {} : { each: all };
}

function adoptWhen(own: RawStep['when'], parent: RawStep['when']): Pick<RawStep, 'when'> {
  if (parent === undefined) return own === undefined ? {} : { when: own };
  if (own === undefined || own === true) return { when: parent };
  return { when: `\${{ ${expressionOf(parent)} && ${expressionOf(own)} }}` };
}

/** Replaces steps that use pipelines in the edges and needs of all other steps. */
export function relink(
  value: RawMap,
  used: ReadonlyMap<string, Flattened>,
): { readonly value: RawMap; readonly faults: readonly Fault[] } {
  const faults: Fault[] = [];
  const edge = (text: string, path: readonly (string | number)[]): string => {
    const [source, inner] = splitEdge(text);
    const [parent = '', output = ''] = source.split('.', 2);
    const flattened = used.get(parent);
    if (flattened === undefined) return text;
    const target = flattened.outputs.get(output);
    if (target !== undefined) return inner === undefined ? target : `${target}/${inner}`;
    const message = `the pipeline that step \`${parent}\` uses has no output \`${output}\``;
    faults.push({ code: 'unknown-output', message, path, ...suggestName(output, flattened.outputs.keys()) });
    return flattened.outputs.values().next().value ?? text;
  };
  const relinkStep = (step: RawStep, path: readonly string[]): RawStep => ({
    ...step,
    ...(isRawMap(step.inputs as Json) && {
      inputs: Object.fromEntries(
        Object.entries(step.inputs ?? {}).map(([name, input]) => {
          const at = [...path, 'inputs', name, 'from'];
          // Unchecked here: what has another shape is reported later.
          const sources = <T>(from: T): T => {
            if (typeof from === 'string') return edge(from, at) as T;
            return Array.isArray(from) ? (from.map((one: unknown) => sources(one)) as T) : from;
          };
          if (typeof input === 'string' || Array.isArray(input)) return [name, sources(input)];
          return [name, typeof input === 'object' && input !== null ? { ...input, from: sources(input.from) } : input];
        }),
      ),
    }),
    ...(isNeeds(step.needs) && { needs: relinkNeeds(step.needs, used) }),
  });
  const section = (key: 'steps' | 'finally'): Json =>
    Object.fromEntries(
      Object.entries((value[key] ?? {}) as unknown as Readonly<Record<string, RawStep>>).map(([name, step]) => [
        name,
        typeof step === 'object' && step !== null ? relinkStep(step, [key, name]) : step,
      ]),
    ) as unknown as Json;
  const outputs = Object.entries((value.outputs ?? {}) as RawMap).map(([name, output]) => {
    if (typeof output === 'string') return [name, edge(output, ['outputs', name])];
    const from = (output as RawMap | null)?.from;
    return [
      name,
      typeof from === 'string' ? { ...(output as RawMap), from: edge(from, ['outputs', name, 'from']) } : output,
    ];
  });
  return {
    value: {
      ...value,
      steps: section('steps'),
      ...(isRawMap(value.results) && { results: relinkResults(value.results, used, faults) }),
      ...(value.finally !== undefined && { finally: section('finally') }),
      ...(value.outputs !== undefined && { outputs: Object.fromEntries(outputs) as Json }),
    },
    faults,
  };
}

/** Omits a result that cannot be found: its fault is reported here. */
function relinkResults(results: RawMap, used: ReadonlyMap<string, Flattened>, faults: Fault[]): RawMap {
  const found = Object.entries(results).flatMap(([name, result]) => {
    const [parent = '', wanted = ''] = typeof result === 'string' ? result.split('.', 2) : [];
    const flattened = used.get(parent);
    const target = flattened === undefined ? result : flattened.results.get(wanted);
    if (target !== undefined) return [[name, target] as const];
    if (flattened) faults.push({ ...undeclaredResult(flattened, { parent, name: wanted }), path: ['results', name] });
    return [];
  });
  return Object.fromEntries(found);
}

/** The results of its steps are not visible outside a used pipeline, only those that it declares. */
export function undeclaredResult(
  { results, missingResults }: Flattened,
  { parent, name }: { readonly parent: string; readonly name: string },
): Omit<Fault, 'path'> {
  const declaration = missingResults.get(name);
  return {
    code: 'unknown-result',
    message: `the pipeline that step \`${parent}\` uses declares no result \`${name}\``,
    ...(declaration === undefined
      ? suggestName(name, results.keys())
      : { hint: `add \`${declaration}\` to the top level of its file` }),
  };
}

/** The document is unchecked here. */
function isNeeds(needs: RawStep['needs'] | null): needs is NonNullable<RawStep['needs']> {
  return typeof needs === 'string' || (typeof needs === 'object' && needs !== null);
}

function relinkNeeds(
  needs: NonNullable<RawStep['needs']>,
  used: ReadonlyMap<string, Flattened>,
): NonNullable<RawStep['needs']> {
  if (typeof needs === 'string') return used.get(needs)?.last.slice() ?? needs;
  if (Array.isArray(needs)) return needs.flatMap((name: string) => used.get(name)?.last ?? [name]);
  return Object.fromEntries(
    Object.entries(needs).flatMap(([name, condition]) =>
      (used.get(name)?.last ?? [name]).map((step) => [step, condition]),
    ),
  );
}
