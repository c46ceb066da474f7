import type { Json } from '../model/json.ts';
import { fail, ok, type Result } from '../model/result.ts';
import type { SluiceError } from '../model/sluice-error.ts';
import { assemblePipeline } from '../parse/assemble-pipeline.ts';
import { checkDocument } from '../parse/check-document.ts';
import { createFileSet } from '../parse/file-set.ts';
import { locateFaults } from '../parse/locate-faults.ts';
import type { CheckedPipeline } from '../parse/parse-pipeline.ts';
import { invalidPipeline } from '../render/invalid-pipeline.ts';
import { cellsDocument } from './cells.ts';
import { expression, handlesUnder } from './expression-handle.ts';
import { stepHandle, volumeHandle } from './handles.ts';
import { createParts } from './parts.ts';
import type { BuildOptions, ParamShapes, PipelineBuilder, PipelineConfig, VolumeShapes } from './pipeline-builder.ts';
import { isObject, readStepArguments, requireArgument } from './step-arguments.ts';
import { edgeText, type OutputHandle, type ResultShapes, stepDocument, type UseConfig } from './step-config.ts';

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
  requireArgument(isObject(config), `pipeline ${name}: the config must be an object`);
  const parts = createParts();
  const step = (stepName: string, ...given: readonly unknown[]) => {
    const { config: stepConfig, cells } = readStepArguments(stepName, given);
    const { final, ...keys } = stepConfig;
    const document = stepDocument(keys, cells === undefined ? {} : cellsDocument(cells));
    const kind = (cells?.final ?? final) === true ? 'finally' : 'steps';
    parts.add({ kind, name: stepName, document, callee: step });
    const { outputs = {}, results = {}, ports = {} } = keys;
    return stepHandle(stepName, {
      outputs: Object.keys(outputs),
      results: Object.keys(results),
      ports: Object.keys(ports),
    });
  };
  const uses = (stepName: string, file: string, given: UseConfig<string, ResultShapes> = {}) => {
    const { outputs = [], results = {}, ports = [], ...keys } = given;
    const document = { uses: file, ...(stepDocument(keys, {}) as object) };
    parts.add({ kind: 'steps', name: stepName, document, callee: uses });
    return stepHandle(stepName, { outputs, results: Object.keys(results), ports });
  };
  const output = (key: string, from: OutputHandle, options: { readonly publish?: string } = {}) =>
    parts.add({ kind: 'outputs', name: key, document: { from: edgeText(from), ...options }, callee: output });
  const toJSON = () => {
    const { defaults } = config;
    const document = {
      ...{ version: 1, name, ...config },
      ...(defaults && { defaults: stepDocument(defaults, {}) }),
      ...parts.toDocument(),
    };
    return JSON.parse(JSON.stringify(document)) as { readonly [key: string]: Json };
  };
  const safeBuild = (options: BuildOptions = {}) => check(name, toJSON(), options);
  const builder = {
    params: handlesUnder('params', Object.keys(config.params ?? {})),
    volumes: Object.fromEntries(Object.keys(config.volumes ?? {}).map((volume) => [volume, volumeHandle(volume, '')])),
    run: handlesUnder('run', ['id', 'name', 'plannedTime', 'status']),
    attempt: expression('attempt'),
    step,
    uses,
    output,
    toJSON,
    safeBuild,
    build: (options: BuildOptions = {}) => {
      const built = safeBuild(options);
      if (!built.ok) throw built.error;
      return built.value;
    },
  };
  return builder as unknown as PipelineBuilder<P, V>;
}

function check(
  name: string,
  document: Json,
  { read }: BuildOptions,
): Result<CheckedPipeline, SluiceError<'INVALID_PIPELINE'>> {
  const root = { file: '', text: '', value: document, locate: () => undefined };
  const assembly = assemblePipeline(root, createFileSet(read));
  const checked = checkDocument(assembly.value, { suspicious: true, unread: assembly.unread });
  const diagnostics = [...assembly.diagnostics, ...locateFaults(checked.faults, assembly)];
  if (checked.pipeline === undefined || diagnostics.some(({ severity }) => severity === 'error'))
    return fail(invalidPipeline(name, diagnostics));
  return ok({ pipeline: checked.pipeline, warnings: diagnostics });
}
