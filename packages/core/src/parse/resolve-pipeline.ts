import type { Doubles } from '../expressions/doubles.ts';
import type { Json } from '../model/json.ts';
import { typeOf } from '../model/json-type.ts';
import type { BoundValue, Param } from '../model/param.ts';
import type {
  Axis,
  Concurrency,
  NamedVolume,
  Notify,
  Pipeline,
  PipelineOutput,
  PipelineResult,
  Schedule,
} from '../model/pipeline.ts';
import type { JsonTemplate } from '../model/template.ts';
import { paramSchema, type RawPipeline } from '../schema/pipeline-schema.ts';
import type { RawStep } from '../schema/step-schema.ts';
import { listOf } from './list-of.ts';
import { isRawMap } from './raw-map.ts';
import { resolveCommand } from './resolve-program.ts';
import {
  applyDefaults,
  defined,
  mapValues,
  milliseconds,
  optional,
  resolveSource,
  resolveStep,
  resolveStepOutput,
} from './resolve-step.ts';

/** What belongs to a document, but has no form in a file. */
export interface BesideDocument {
  /** By parameter: the whole numbers in its lists and maps that the text writes as doubles. */
  readonly paramDoubles?: ReadonlyMap<string, Doubles> | undefined;
  /** By name in expressions: lists and maps of used files. */
  readonly bound?: ReadonlyMap<string, BoundValue> | undefined;
  /** By step that uses a pipeline file: the names of the steps that replace it. */
  readonly used?: ReadonlyMap<string, readonly string[]> | undefined;
}

/** The model of a file with a valid shape: short forms expanded, defaults applied. Names are not checked. */
export function resolvePipeline(raw: RawPipeline, { paramDoubles, bound, used }: BesideDocument = {}): Pipeline {
  const env = raw.env ?? {};
  const defaults = raw.defaults as RawStep | undefined;
  const steps = (map: Readonly<Record<string, RawStep>> | undefined) =>
    Object.entries(map ?? {}).map(([name, step]) => resolveStep(name, applyDefaults(step, defaults), env));
  return {
    version: 1,
    name: raw.name ?? '',
    ...optional('description', raw.description),
    labels: raw.labels ?? {},
    params: mapValues(raw.params, (param, name) => ({
      ...resolveParam(param as Json),
      ...optional('doubles', paramDoubles?.get(name)),
    })),
    ...optional('bound', bound && bound.size > 0 ? Object.fromEntries(bound) : undefined),
    ...optional('used', used && used.size > 0 ? Object.fromEntries(used) : undefined),
    env,
    secrets: raw.secrets ?? [],
    volumes: mapValues(raw.volumes, resolveVolume),
    ...optional('axes', raw.axes && mapValues(raw.axes, resolveAxis)),
    steps: steps(raw.steps),
    finally: steps(raw.finally),
    outputs: mapValues(raw.outputs, resolveOutput),
    ...optional('results', raw.results && mapValues(raw.results, resolveResult)),
    ...optional('parallelism', raw.parallelism),
    failFast: raw.failFast ?? true,
    ...optional('timeoutMs', milliseconds(raw.timeout)),
    ...optional(
      'concurrency',
      raw.concurrency === undefined ? undefined : resolveConcurrency(raw.concurrency, raw.name),
    ),
    pools: raw.pools ?? {},
    ...optional('placement', raw.placement && defined(raw.placement)),
    ...optional('schedule', raw.schedule && resolveSchedule(raw.schedule)),
    notify: (Array.isArray(raw.notify) ? raw.notify : raw.notify === undefined ? [] : [raw.notify]).map(resolveNotify),
  };
}

const PARAM_KEYS: ReadonlySet<string> = new Set(Object.keys(paramSchema.shape));

/** Whether a map is the long form of a parameter: it is empty or has one of that form's keys. */
export function isLongParam(value: Json): value is { readonly [key: string]: Json } {
  if (!isRawMap(value)) return false;
  const keys = Object.keys(value);
  // Files had maps with a key `columns` as defaults before it became a key of the form.
  if (keys.length === 1 && keys[0] === 'columns') return paramSchema.shape.columns.safeParse(value.columns).success;
  return keys.length === 0 || keys.some((key) => PARAM_KEYS.has(key));
}

function resolveParam(value: Json): Param {
  if (!isLongParam(value)) return { type: typeOf(value), default: value, required: false };
  const { type, default: preset, required, ...rest } = value as unknown as Partial<Param>;
  const sample = preset ?? rest.enum?.[0] ?? (rest.minimum === undefined && rest.maximum === undefined ? '' : 0.5);
  return {
    type: type ?? (rest.columns === undefined ? typeOf(sample) : 'array'),
    ...optional('default', preset),
    required: required ?? preset === undefined,
    ...rest,
  };
}

function resolveVolume(volume: NonNullable<RawPipeline['volumes']>[string]): NamedVolume {
  const { path: source, exclude } =
    typeof volume.source === 'object' ? volume.source : { path: volume.source, exclude: undefined };
  return {
    ...optional('id', volume.id),
    ...optional('source', source),
    ...optional('exclude', exclude),
    retain: volume.retain ?? true,
    ...optional('each', volume.each === undefined ? undefined : listOf(volume.each)),
  };
}

function resolveAxis(raw: NonNullable<RawPipeline['axes']>[string]): Axis {
  if (typeof raw === 'string' || Array.isArray(raw)) return { items: raw as JsonTemplate, of: {} };
  if ('distinct' in raw) {
    const dot = raw.distinct.indexOf('.');
    const distinct = { axis: raw.distinct.slice(0, dot), field: raw.distinct.slice(dot + 1) };
    return { distinct, of: {}, ...optional('parallelism', raw.parallelism) };
  }
  const { items } = raw;
  return {
    ...(isFiles(items) ? { files: resolveFiles(items.files) } : { items: items as JsonTemplate }),
    ...optional('key', raw.key),
    of: raw.of ?? {},
    ...optional('parallelism', raw.parallelism),
  };
}

function isFiles(items: unknown): items is { readonly files: string } {
  return typeof items === 'object' && items !== null && !Array.isArray(items);
}

function resolveFiles(text: string): NonNullable<Axis['files']> {
  const slash = text.indexOf('/');
  return { volume: text.slice('volumes.'.length, slash), pattern: text.slice(slash + 1) };
}

function resolveOutput(output: NonNullable<RawPipeline['outputs']>[string]): PipelineOutput {
  if (typeof output === 'string') return { from: resolveSource(output) };
  return { from: resolveSource(output.from), ...optional('publish', output.publish) };
}

function resolveResult(text: string): PipelineResult {
  const { step, output: result } = resolveStepOutput(text);
  return { step, result };
}

function resolveConcurrency(raw: NonNullable<RawPipeline['concurrency']>, name: string): Concurrency {
  const { group, limit, overlap } = typeof raw === 'string' ? { group: raw } : { group: undefined, ...raw };
  return { group: group ?? name, limit: limit ?? 1, overlap: overlap ?? 'queue' };
}

function resolveSchedule(raw: NonNullable<RawPipeline['schedule']>): Schedule {
  return {
    cron: typeof raw.cron === 'string' ? [raw.cron] : raw.cron,
    timezone: raw.timezone ?? 'UTC',
    overlap: raw.overlap ?? 'skip',
    catchup: raw.catchup ?? 'none',
    ...optional('startingDeadlineMs', milliseconds(raw.startingDeadline)),
  };
}

/** The values of the expressions are passed in the environment, because a notification has no variables of its own. */
function resolveNotifyCommand(given: string | string[]): Notify['command'] {
  const { command, env } = resolveCommand(given);
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  return variables.length === 0 ? command : ['env', ...variables, ...command];
}

function resolveNotify(raw: {
  on: Notify['on'];
  webhook?: string | undefined;
  command?: string | string[] | undefined;
}): Notify {
  return {
    on: raw.on,
    ...optional('webhook', raw.webhook),
    ...optional('command', raw.command === undefined ? undefined : resolveNotifyCommand(raw.command)),
  };
}
