import { isObject, requireArgument } from '../model/guard-arguments.ts';
import type { Json } from '../model/json.ts';
import { fail, ok, type Result } from '../model/result.ts';
import type { SluiceError } from '../model/sluice-error.ts';
import { addEnvironments } from '../parse/add-environments.ts';
import { assemblePipeline } from '../parse/assemble-pipeline.ts';
import { checkDocument } from '../parse/check-document.ts';
import { createFileSet } from '../parse/file-set.ts';
import { locateFaults } from '../parse/locate-faults.ts';
import type { CheckedPipeline } from '../parse/parse-pipeline.ts';
import { invalidPipeline } from '../render/invalid-pipeline.ts';
import type { RawPipeline } from '../schema/pipeline-schema.ts';
import { axisHandle, readAxis } from './axes.ts';
import { captureCallSite } from './call-site.ts';
import { cellsDocument } from './cells.ts';
import { expression, handlesUnder } from './expression-handle.ts';
import { createOwnHandles } from './handle-origins.ts';
import { namesIn, stepHandle, volumeHandles } from './handles.ts';
import { createParts, type Parts } from './parts.ts';
import type { BuildError, ParamShapes, PipelineBuilder, PipelineConfig, VolumeShapes } from './pipeline-builder.ts';
import { catchArgument, readBuildOptions, readOutput, readResults } from './read-arguments.ts';
import { readConfig } from './read-config.ts';
import { readStepArguments } from './step-arguments.ts';
import { stepDocument } from './step-document.ts';

/**
 * Creates a builder. Names of parameters, outputs and results are part of its types, so that a wrong name does not
 * compile.
 *
 * @example
 * ```ts
 * import { pipeline } from 'sluice';
 *
 * const p = pipeline('train', { params: { seeds: [1, 2, 3] } });
 * const fit = p.step('fit', { matrix: { seed: p.params.seeds } }, ({ matrix }) => ({
 *   command: ['node', 'fit.mjs', '--seed', matrix.seed],
 *   outputs: { model: '/model' },
 *   results: { accuracy: 'number' },
 * }));
 * p.step('select', { command: ['node', 'select.mjs'], inputs: { models: fit.outputs.model } });
 * p.step('tell', { final: true, command: ['echo', p.run.status] });
 * ```
 */
export function pipeline<
  const P extends ParamShapes = Record<never, never>,
  const V extends VolumeShapes = Record<never, never>,
>(name: string, config: PipelineConfig<P, V> = {}): PipelineBuilder<P, V> {
  requireArgument(typeof name === 'string', 'pipeline: the name must be a string');
  const keys = readConfig(`pipeline ${name}`, config);
  const site = captureCallSite(pipeline);
  const parts = createParts();
  const { remember, reject } = createOwnHandles(name);
  const axis = (axisName: unknown, given: unknown) => {
    const read = readAxis(axisName, given, (one) => reject(one, `axis ${axisName}`, axis));
    return remember(axisHandle(read.name), `axis ${read.name}`, parts.add({ ...read, kind: 'axes', callee: axis }));
  };
  const step = (stepName: unknown, ...given: readonly unknown[]) => {
    const { cells, ...read } = readStepArguments(stepName, given, (one) => reject(one, `step ${stepName}`, step));
    const { final, ...stepKeys } = read.config;
    const document = stepDocument(stepKeys, cells === undefined ? {} : cellsDocument(cells));
    const kind = (cells?.final ?? final) === true ? 'finally' : 'steps';
    const site = parts.add({ kind, name: read.name, document, callee: step });
    return remember(stepHandle(read.name, stepKeys), `step ${read.name}`, site);
  };
  const uses = (stepName: unknown, file: unknown, given: unknown = {}) => {
    requireArgument(typeof stepName === 'string', 'uses: the name must be a string');
    requireArgument(typeof file === 'string', `uses ${stepName}: the file must be a string`);
    reject(given, `uses ${stepName}`, uses);
    const read = readConfig(`uses ${stepName}`, given);
    const { outputs: _, results: __, ports: ___, ...useKeys } = read;
    const document = { uses: file, ...stepDocument(useKeys, {}) };
    const site = parts.add({ kind: 'steps', name: stepName, document, callee: uses });
    return remember(stepHandle(stepName, read), `step ${stepName}`, site);
  };
  const output = (key: unknown, from: unknown, options: unknown = {}) => {
    const read = readOutput(key, from, options);
    reject(from, `output ${key}`, output);
    parts.add({ ...read, kind: 'outputs', callee: output });
  };
  const results = (declared: unknown) => {
    reject(declared, 'results', results);
    for (const result of readResults(declared)) parts.add({ ...result, kind: 'results', callee: results });
    return builder;
  };
  const toJSON = () => pipelineDocument({ name, keys, parts });
  const safeBuild = (options: unknown = {}) => catchArgument(() => check(name, toJSON(), options));
  const builder: unknown = {
    params: remember(handlesUnder('params', namesIn(keys.params)), 'a parameter', site),
    volumes: remember(volumeHandles(namesIn(keys.volumes)), 'a volume', site),
    run: handlesUnder('run', ['id', 'name', 'plannedTime', 'status']),
    attempt: expression('attempt'),
    axis,
    step,
    uses,
    output,
    results,
    toJSON,
    safeBuild,
    build: (options: unknown = {}) => unwrap(safeBuild(options)),
  };
  return builder as PipelineBuilder<P, V>;
}

/** The pipeline as the value of a file. */
function pipelineDocument({ name, keys, parts }: { name: string; keys: ReturnType<typeof readConfig>; parts: Parts }) {
  const { defaults } = keys;
  const document = {
    ...{ version: 1, name, ...keys },
    ...(isObject(defaults) && { defaults: stepDocument(defaults, {}) }),
    ...parts.toDocument(),
  };
  return JSON.parse(JSON.stringify(document)) as { readonly [key: string]: Json };
}

function unwrap<T>(result: Result<T, SluiceError>): T {
  if (!result.ok) throw result.error;
  return result.value;
}

function check(name: string, document: Json, options: unknown): Result<CheckedPipeline, BuildError> {
  const root = { file: '', text: '', value: document, locate: () => undefined };
  const assembly = assemblePipeline(root, createFileSet(readBuildOptions(name, options)));
  const checked = checkDocument(assembly.value, { ...assembly, suspicious: true });
  const diagnostics = [...assembly.diagnostics, ...locateFaults(checked.faults, assembly)];
  if (checked.pipeline === undefined || diagnostics.some(({ severity }) => severity === 'error'))
    return fail(invalidPipeline(name, diagnostics));
  const { pipeline } = addEnvironments(checked.pipeline, assembly.value as unknown as RawPipeline);
  return ok({ pipeline, warnings: diagnostics });
}
