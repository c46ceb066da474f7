import { own } from '../model/own.ts';
import type { Input, NamedVolume, Pipeline, Step } from '../model/pipeline.ts';
import type { RawPipeline } from '../schema/pipeline-schema.ts';
import type { RawStep } from '../schema/step-schema.ts';
import { type Environment, environmentOf, RECIPES } from './environments.ts';
import { applyDefaults, resolveStep } from './resolve-step.ts';
import type { Path } from './source-document.ts';

/** A pipeline in which steps make the environments of others. */
export interface WithEnvironments {
  readonly pipeline: Pipeline;
  /** Where the file has what became the path of an added step or volume; other paths as they are. */
  readonly writtenAt: (path: Path) => Path;
}

/** An environment with what decides where and with which programs it is made. */
interface Wanted extends Environment {
  readonly made: Pick<RawStep, 'modules' | 'placement' | 'slurm'>;
  readonly writtenAt: Path;
}

/**
 * Adds a cached step for each environment, which makes it from a volume with its file, and mounts it in the steps that
 * have its key. Steps share an environment with the same file, modules, placement and Slurm options. `raw` is the
 * document, without faults, that `pipeline` was resolved from.
 */
export function addEnvironments(pipeline: Pipeline, raw: RawPipeline): WithEnvironments {
  const wanted = findWanted(raw);
  if (wanted.size === 0) return { pipeline, writtenAt: (path) => path };
  const taken = new Set([...pipeline.steps, ...pipeline.finally].map(({ name }) => name));
  for (const name of Object.keys(pipeline.volumes)) taken.add(name);
  const made = new Map<string, { readonly name: string; readonly wanted: Wanted }>();
  const inputs = new Map<string, Readonly<Record<string, Input>>>();
  for (const [step, one] of wanted) {
    const key = JSON.stringify([one.kind, one.file, one.made]);
    let name = made.get(key)?.name;
    if (name === undefined) {
      name = freeName(one, taken);
      made.set(key, { name, wanted: one });
    }
    inputs.set(step, { [one.kind]: { from: { step: name, output: one.kind }, path: RECIPES[one.kind].path } });
  }
  const mount = (step: Step): Step => {
    const environment = inputs.get(step.name);
    return environment === undefined ? step : { ...step, inputs: { ...environment, ...step.inputs } };
  };
  const volumes: Record<string, NamedVolume> = { ...pipeline.volumes };
  for (const { name, wanted: one } of made.values()) volumes[name] = { source: one.file, retain: true };
  const added = [...made.values()].map(({ name, wanted: one }) => makingStep(name, one, raw.env ?? {}));
  const origins = new Map([...made.values()].map(({ name, wanted: one }) => [name, one.writtenAt]));
  return {
    pipeline: {
      ...pipeline,
      volumes,
      steps: [...added, ...pipeline.steps.map(mount)],
      finally: pipeline.finally.map(mount),
    },
    writtenAt: (path) => (['steps', 'volumes'].includes(String(path[0])) && origins.get(String(path[1]))) || path,
  };
}

/** The environment of a step, and the step with `defaults` applied; undefined if it has none. */
export function findEnvironment(step: RawStep, defaults: RawStep | undefined) {
  // Most steps have none: nothing is merged for them.
  const mayHave = [step, defaults].some((one) => one !== undefined && environmentOf(one) !== undefined);
  if (!mayHave) return undefined;
  const whole = applyDefaults(step, defaults);
  const environment = environmentOf(whole);
  return environment && { environment, whole };
}

/** By step. */
function findWanted(raw: RawPipeline): ReadonlyMap<string, Wanted> {
  const wanted = new Map<string, Wanted>();
  const defaults = raw.defaults as RawStep | undefined;
  for (const section of ['steps', 'finally'] as const) {
    const steps = (raw[section] ?? {}) as Readonly<Record<string, RawStep>>;
    for (const name of Object.keys(steps)) {
      const step = own(steps, name) as RawStep;
      const found = findEnvironment(step, defaults);
      if (found === undefined) continue;
      const { environment } = found;
      const { modules, placement = raw.placement, slurm } = found.whole;
      const isOwn = own(step, environment.kind) !== undefined;
      const writtenAt = isOwn ? [section, name, environment.kind] : ['defaults', environment.kind];
      wanted.set(name, { ...environment, made: { modules, placement, slurm }, writtenAt });
    }
  }
  return wanted;
}

/** Steps and volumes of pipelines have names of their own, with at most 100 characters. */
function freeName({ kind, file }: Environment, taken: Set<string>): string {
  const stem = fileName(file)
    .replace(/\.[^.]*$/, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 80);
  const base = `${kind}-${stem.replace(/^-+|-+$/g, '') || 'file'}`;
  let name = base;
  for (let count = 2; taken.has(name); count++) name = `${base}-${count}`;
  taken.add(name);
  return name;
}

function makingStep(name: string, { kind, file, made }: Wanted, env: Readonly<Record<string, string>>): Step {
  const { path, make } = RECIPES[kind];
  const raw = {
    ...made,
    description: `Makes the environment of ${file}`,
    inputs: { packages: `volumes.${name}` },
    outputs: { [kind]: path },
    command: ['sh', '-euc', make, 'sh', path, `/in/packages/${fileName(file)}`],
    cache: true,
  };
  return resolveStep(name, raw as RawStep, env);
}

function fileName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
