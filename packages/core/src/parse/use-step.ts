import { checkShape } from '../checks/check-shape.ts';
import type { Fault } from '../checks/fault.ts';
import { suggestName } from '../checks/nearest-name.ts';
import { rewriteTemplates } from '../expressions/rewrite-templates.ts';
import type { Json } from '../model/json.ts';
import { own } from '../model/own.ts';
import { paramSchema, pipelineSchema } from '../schema/pipeline-schema.ts';
import { type RawStep, stepSchema } from '../schema/step-schema.ts';
import { type AssemblyWork, bindValue, type StepPath, type Use } from './assembly-work.ts';
import { bindWith } from './bind-with.ts';
import { besideEnvironment } from './environments.ts';
import { locateFaults } from './locate-faults.ts';
import { isRawMap, type RawMap } from './raw-map.ts';
import { isLongParam, resolvePipeline } from './resolve-pipeline.ts';
import { applyDefaults } from './resolve-step.ts';
import type { SourceDocument } from './source-document.ts';

/** Applies a step file: the keys of one step, and `params`. The using step's own keys override them. */
export function useStep(
  work: AssemblyWork,
  { at, step, document, report, skip }: Use & { readonly document: { readonly value: RawMap } },
): void {
  const {
    params,
    version: _version,
    name: _name,
    $schema: _schema,
    ...keys
  } = document.value as { readonly [key: string]: Json };
  const faults = [...checkShape(stepSchema, keys, { at }), ...nestedUse(keys, at)];
  if (faults.length > 0) {
    const locate: SourceDocument['locate'] = (spot) => document.locate({ ...spot, path: spot.path.slice(2) });
    work.diagnostics.push(...locateFaults(faults, { locate }));
    skip();
    return;
  }
  const sound = soundParams(params, document, work);
  const declared = resolvePipeline({ version: 1, name: 'step', params: sound as never }, document).params;
  const bound = bindWith(declared, (step.with ?? {}) as RawMap, {
    at,
    bind: (param, value) => bindValue(work, param, value),
  });
  report(...bound.faults);
  const undeclared: Fault[] = [];
  const lent = rewriteTemplates(keys, (reference, path) => {
    const {
      root,
      keys: [name],
    } = reference;
    if (root !== 'params' || name === undefined || bound.values.has(name)) return bound.replaceParams(reference);
    const message = `the step file has no parameter \`${name}\``;
    undeclared.push({ code: 'unknown-name', message, path: [...path], ...suggestName(name, bound.values.keys()) });
    return { source: 'dyn(0)', rest: [] };
  }) as unknown as RawStep;
  work.diagnostics.push(...locateFaults(undeclared, document));
  const { uses: _uses, with: _with, ...own } = step;
  const outer = work.origins.get(at.join('\0')) ?? work.root.locate;
  const beside = besideEnvironment(lent, step.uses ?? '');
  work.brought.set(at[1], { [at[1]]: applyDefaults(own as RawStep, beside) });
  work.origins.set(at.join('\0'), (spot) => {
    const key = spot.path[2];
    const isOwn = key === undefined || Object.hasOwn(own, key);
    return isOwn ? outer(spot) : document.locate({ ...spot, path: spot.path.slice(2) });
  });
}

/** A step file cannot use another one, which would never be read. */
function nestedUse(keys: RawMap, at: StepPath): readonly Fault[] {
  return ['uses', 'with']
    .filter((key) => own(keys, key) !== undefined)
    .map((key) => {
      const message = `a step file contains the keys of one step, so it cannot have \`${key}\``;
      return { code: 'conflicting-keys', message, path: [...at, key], on: 'key', hint: 'use a pipeline file instead' };
    });
}

/** The valid parameters of a step file; the others are reported. */
function soundParams(params: Json | undefined, document: SourceDocument, work: AssemblyWork): RawMap {
  if (params === undefined) return {};
  const shape = checkShape(pipelineSchema.shape.params, params, { at: ['params'] });
  if (!isRawMap(params)) {
    work.diagnostics.push(...locateFaults(shape, document));
    return {};
  }
  const long = Object.keys(params).flatMap((name) => {
    const param = own(params, name) ?? null;
    return isLongParam(param) ? checkShape(paramSchema, param, { at: ['params', name] }) : [];
  });
  const faults = [...shape, ...long];
  work.diagnostics.push(...locateFaults(faults, document));
  const faulty = new Set(faults.map(({ path }) => path[1]));
  return Object.fromEntries(Object.entries(params).filter(([name]) => !faulty.has(name)));
}
