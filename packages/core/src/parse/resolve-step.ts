import type { DockerOptions } from '../model/engine-options.ts';
import type { Json } from '../model/json.ts';
import type {
  Approval,
  Cache,
  Input,
  Need,
  Output,
  Resources,
  Retry,
  ServiceStep,
  Step,
  StepSource,
} from '../model/pipeline.ts';
import { parseDuration } from '../schema/duration.ts';
import { parseSize } from '../schema/size.ts';
import type { RawStep } from '../schema/step-schema.ts';
import { fixedNumber, fixedPools, fixedText, isFixedPlacement, resolveCellTemplates } from './cell-templates.ts';
import { listOf } from './list-of.ts';
import { resolveCommand, resolveProgram } from './resolve-program.ts';

/** Maps that are merged with those of `defaults` by name; other keys of the step replace the default. */
const MERGED = ['env', 'inputs', 'outputs', 'results', 'pools', 'ports'] as const;
/** Alternative keys: one of them in the step disables all of them in `defaults`. */
const RIVALS = [
  ['command', 'script'],
  ['each', 'matrix', 'foreach'],
  ['instanceType', 'resources'],
  ['image', 'modules'],
  ['image', 'venv'],
  ['image', 'conda'],
  ['venv', 'conda'],
] as const;
/** An approval has no container. */
const CONTAINER_KEYS = [
  'image',
  'command',
  'script',
  'shell',
  'modules',
  'venv',
  'conda',
  'env',
  'secrets',
  'inputs',
  'outputs',
  'results',
  'instanceType',
  'resources',
  'nodes',
  'tasksPerNode',
  'docker',
  'slurm',
  'placement',
  'pools',
  'retry',
  'cache',
  'ports',
  'service',
  'matrix',
  'foreach',
  'parallelism',
] as const;

/** A step with `defaults` applied, still in the forms of a file. */
export function applyDefaults(step: RawStep, defaults: RawStep | undefined): RawStep {
  if (defaults === undefined) return step;
  const inherited: Record<string, unknown> = { ...defaults };
  for (const rivals of RIVALS) {
    if (rivals.some((key) => step[key] !== undefined)) for (const key of rivals) delete inherited[key];
  }
  if (step.approval !== undefined && step.approval !== false) for (const key of CONTAINER_KEYS) delete inherited[key];
  const merged: Record<string, unknown> = { ...inherited, ...step };
  for (const key of MERGED) {
    const base = inherited[key];
    if (base === undefined || step[key] === undefined) continue;
    merged[key] =
      key === 'outputs'
        ? { ...outputsByName(base as RawStep['outputs']), ...outputsByName(step.outputs) }
        : { ...base, ...step[key] };
  }
  if (inherited.secrets !== undefined && step.secrets !== undefined) {
    merged.secrets = [...new Set([...(inherited.secrets as string[]), ...step.secrets])];
  }
  return merged as RawStep;
}

/** The model of a step with a valid shape and with defaults already applied. */
export function resolveStep(name: string, raw: RawStep, pipelineEnv: Readonly<Record<string, string>>): Step {
  const program = resolveProgram(raw);
  const approval = raw.approval === undefined || raw.approval === false ? undefined : resolveApproval(raw.approval);
  return {
    name,
    ...optional('description', raw.description),
    ...optional('image', raw.image),
    ...optional('command', program.command),
    env: approval === undefined ? { ...pipelineEnv, ...raw.env, ...program.env, ...readyEnv(raw.service) } : {},
    secrets: raw.secrets ?? [],
    inputs: mapValues(raw.inputs, (input, key) => resolveInput(key, input)),
    outputs: mapValues(outputsByName(raw.outputs), (output, key) => resolveOutput(key, output)),
    results: mapValues(raw.results, (result, key) =>
      typeof result === 'string' ? { type: result, file: key } : { type: result.type, file: result.file ?? key },
    ),
    needs: resolveNeeds(raw.needs),
    ...optional('when', typeof raw.when === 'boolean' ? `\${{ ${raw.when} }}` : raw.when),
    ...optional('each', raw.each === undefined ? undefined : listOf(raw.each)),
    ...optional('matrix', raw.matrix && resolveMatrix(raw.matrix)),
    ...(raw.foreach !== undefined && resolveForeach(raw.foreach)),
    ...optional('parallelism', raw.parallelism),
    ...optional('instanceType', raw.instanceType),
    ...optional('resources', raw.resources && resolveResources(raw.resources)),
    ...optional('tasks', resolveTasks(raw)),
    ...optional('docker', raw.docker && resolveDocker(raw.docker)),
    ...optional('slurm', raw.slurm && defined(raw.slurm)),
    ...optional('placement', raw.placement && isFixedPlacement(raw.placement) ? defined(raw.placement) : undefined),
    pools: fixedPools(raw.pools),
    priority: fixedNumber(raw.priority) ?? 0,
    retry: resolveRetry(raw.retry),
    ...optional('perCell', resolveCellTemplates(raw)),
    ...optional('timeoutMs', milliseconds(fixedText(raw.timeout))),
    ...optional('queueTimeoutMs', milliseconds(fixedText(raw.queueTimeout))),
    ...optional('deadlineMs', milliseconds(fixedText(raw.deadline))),
    continueOnError: raw.continueOnError ?? false,
    ...optional('cache', resolveCache(raw.cache)),
    ports: mapValues(raw.ports, (port) => ({ https: port.https !== undefined })),
    ...optional('service', resolveService(raw.service)),
    ...optional('approval', approval),
  };
}

/** `{key: value}`, or `{}` for undefined: absent keys of the model are never undefined. */
export function optional<K extends string, T>(key: K, value: T | undefined): { readonly [P in K]?: T } {
  return value === undefined ? {} : ({ [key]: value } as { readonly [P in K]?: T });
}

/** The length of a duration, which must match `DURATION`. */
export function milliseconds(duration: string | undefined): number | undefined {
  return duration === undefined ? undefined : parseDuration(duration);
}

/** A copy without undefined properties. */
export function defined<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)) as never;
}

const NOTHING: Readonly<Record<string, never>> = Object.freeze({});

/** Maps the values of a record; undefined becomes an empty record. */
export function mapValues<T, U>(
  map: Readonly<Record<string, T>> | undefined,
  change: (value: T, key: string) => U,
): Readonly<Record<string, U>> {
  if (map === undefined) return NOTHING;
  const changed: Record<string, U> = {};
  for (const key of Object.keys(map)) changed[key] = change(map[key] as T, key);
  return changed;
}

function resolveInput(name: string, input: NonNullable<RawStep['inputs']>[string]): Input {
  if (typeof input === 'string' || Array.isArray(input)) return { ...resolveSources(input), path: `/in/${name}` };
  const { from, path = `/in/${name}`, writable, where, all, optional: isOptional } = input;
  return {
    ...resolveSources(from),
    path,
    ...(writable && { writable }),
    ...optional('where', where as Input['where']),
    ...optional('all', all === undefined ? undefined : listOf(all)),
    ...(isOptional && { optional: true }),
  };
}

function resolveSources(from: string | readonly string[]): Pick<Input, 'from' | 'or'> {
  const [first = '', ...rest] = listOf(from);
  return { from: resolveEdge(first), ...(rest.length > 0 && { or: rest.map(resolveSource) }) };
}

function resolveEdge(edge: string): Input['from'] {
  const [source, path] = splitEdge(edge);
  if (source.startsWith('volumes.')) return { volume: source.slice('volumes.'.length), path: path ?? '' };
  return resolveSource(edge);
}

/** Splits `step.output/path`. */
export function resolveSource(edge: string): StepSource {
  const [source, path] = splitEdge(edge);
  return { ...resolveStepOutput(source), ...optional('path', path) };
}

/** The source of an edge, and the path in it if it names one. */
export function splitEdge(edge: string): readonly [source: string, path: string | undefined] {
  const slash = edge.indexOf('/');
  return slash === -1 ? [edge, undefined] : [edge.slice(0, slash), edge.slice(slash + 1)];
}

/** A name in a list of outputs is mounted at `/out/<name>`. */
function outputsByName(outputs: RawStep['outputs']): Exclude<RawStep['outputs'], readonly string[]> {
  if (!Array.isArray(outputs)) return outputs;
  return Object.fromEntries(outputs.map((name: string) => [name, `/out/${name}`]));
}

function resolveForeach(foreach: NonNullable<RawStep['foreach']>): Pick<Step, 'foreach' | 'foreachKey'> {
  const { items, key } =
    typeof foreach === 'object' && !Array.isArray(foreach) ? foreach : { items: foreach, key: undefined };
  return { foreach: items as string | readonly Json[], ...optional('foreachKey', key) };
}

function resolveOutput(
  name: string,
  output: Exclude<NonNullable<RawStep['outputs']>, readonly string[]>[string],
): Output {
  if (typeof output === 'string') return { path: output, retain: false };
  return {
    path: output.path ?? `/out/${name}`,
    retain: output.retain ?? false,
    ...(output.temporary === true && { temporary: true as const }),
    ...optional('expect', output.expect),
  };
}

/** Splits `step.output` at its first dot. */
export function resolveStepOutput(edge: string): { readonly step: string; readonly output: string } {
  const dot = edge.indexOf('.');
  return { step: edge.slice(0, dot), output: edge.slice(dot + 1) };
}

function resolveNeeds(needs: RawStep['needs']): readonly Need[] {
  if (needs === undefined) return [];
  if (typeof needs === 'string') return [{ step: needs, condition: 'succeeded' }];
  if (Array.isArray(needs)) return needs.map((step: string) => ({ step, condition: 'succeeded' as const }));
  return Object.entries(needs).map(([step, condition]) => ({ step, condition: condition as Need['condition'] }));
}

function resolveMatrix(matrix: NonNullable<RawStep['matrix']>): NonNullable<Step['matrix']> {
  const { include, exclude, ...axes } = matrix;
  return { axes, include: include ?? [], exclude: exclude ?? [] } as NonNullable<Step['matrix']>;
}

function resolveResources({ cpu, memory, gpu, gpuModel, time }: NonNullable<RawStep['resources']>): Resources {
  const size = fixedText(memory);
  return {
    ...optional('cpu', fixedNumber(cpu)),
    ...optional('memoryBytes', size === undefined ? undefined : parseSize(size)),
    ...optional('gpu', fixedNumber(gpu)),
    ...optional('gpuModel', fixedText(gpuModel)),
    ...optional('timeMs', milliseconds(fixedText(time))),
  };
}

function resolveTasks({ nodes = 1, tasksPerNode: perNode = 1 }: RawStep): Step['tasks'] {
  return nodes * perNode > 1 ? { nodes, perNode } : undefined;
}

function resolveDocker({ shmSize, ulimits, user, pull }: NonNullable<RawStep['docker']>): DockerOptions {
  return {
    ...optional('shmSizeBytes', shmSize === undefined ? undefined : parseSize(shmSize)),
    ...optional(
      'ulimits',
      ulimits &&
        mapValues(defined(ulimits), (limit) => (typeof limit === 'number' ? { soft: limit, hard: limit } : limit)),
    ),
    ...optional('user', user === undefined ? undefined : String(user)),
    ...optional('pull', pull),
  };
}

function resolveRetry(raw: RawStep['retry']): Retry {
  if (raw === undefined) return NO_RETRY;
  const retry = typeof raw === 'object' ? raw : { limit: raw };
  return {
    limit: fixedNumber(retry.limit) ?? (isOnlyInfrastructure(retry) ? 0 : 1),
    on: retry.on ?? ['failed', 'oom', 'timeout'],
    ...optional('exitCodes', retry.exitCodes),
    backoff: {
      initialMs: milliseconds(fixedText(retry.backoff?.initial)) ?? 1000,
      factor: fixedNumber(retry.backoff?.factor) ?? 2,
      maxMs: milliseconds(fixedText(retry.backoff?.max)) ?? 300_000,
    },
    escalate: (retry.escalate ?? []).map((level) => (typeof level === 'string' ? level : resolveResources(level))),
    infrastructure: fixedNumber(retry.infrastructure) ?? 3,
  };
}

/** Then the other failures are not retried, as without `retry`. */
function isOnlyInfrastructure(retry: object): boolean {
  return Object.keys(retry).join() === 'infrastructure';
}

/** Shared by all steps without `retry`. */
const NO_RETRY: Retry = Object.freeze(resolveRetry({ limit: 0 }));

function resolveCache(cache: RawStep['cache']): Cache | undefined {
  if (cache === undefined || cache === false) return undefined;
  if (cache === true) return { ignore: [] };
  return {
    ...optional('key', cache.key),
    ...optional('maxAgeMs', milliseconds(cache.maxAge)),
    ignore: cache.ignore ?? [],
  };
}

function resolveService(service: RawStep['service']): ServiceStep | undefined {
  if (service === undefined || service === false) return undefined;
  if (service === true || service.ready === undefined) return {};
  const { ready } = service;
  const limit = optional('timeoutMs', milliseconds(ready.timeout));
  if ('port' in ready) return { ready: { port: ready.port, path: ready.path ?? '/', ...limit } };
  return { ready: { command: resolveReady(ready.command).command, ...limit } };
}

/**
 * The variables for the expressions of a readiness command have their own names, distinct from those of the step's
 * command.
 */
function resolveReady(given: string | string[]): { command: readonly string[]; env: Readonly<Record<string, string>> } {
  const { command = [], env } = resolveCommand(given);
  const rename = (text: string) => text.replaceAll('SLUICE_ARG_', 'SLUICE_ARG_READY_');
  return {
    command: command.map(rename),
    env: Object.fromEntries(Object.entries(env).map(([name, value]) => [rename(name), value])),
  };
}

function readyEnv(service: RawStep['service']): Readonly<Record<string, string>> {
  const ready = typeof service === 'object' ? service.ready : undefined;
  return ready !== undefined && 'command' in ready ? resolveReady(ready.command).env : {};
}

function resolveApproval(
  approval: true | string | { message?: string | undefined; timeout?: string | undefined },
): Approval {
  if (approval === true) return {};
  if (typeof approval === 'string') return { message: approval };
  return { ...optional('message', approval.message), ...optional('timeoutMs', milliseconds(approval.timeout)) };
}
