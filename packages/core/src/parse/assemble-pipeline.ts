import { checkShape } from '../checks/check-shape.ts';
import type { Fault } from '../checks/fault.ts';
import type { Json } from '../model/json.ts';
import { own } from '../model/own.ts';
import type { RawPipeline } from '../schema/pipeline-schema.ts';
import { type RawStep, stepSchema } from '../schema/step-schema.ts';
import { type AssemblyWork, addTo, bindValue, locator, placeSteps, type StepPath, type Use } from './assembly-work.ts';
import { besideFile } from './beside-file.ts';
import { bindVariables, bindWith } from './bind-with.ts';
import { checkDocument } from './check-document.ts';
import type { Assembly, FileSet, UsedFile } from './file-set.ts';
import { type Flattened, flattenPipeline, relink, type UsedPipeline } from './flatten-pipeline.ts';
import { includeFiles } from './include-files.ts';
import { MAX_USED_STEPS } from './limits.ts';
import { hasFileDefaults, loadDefaults } from './load-defaults.ts';
import { locateFaults } from './locate-faults.ts';
import { isRawMap, type RawMap } from './raw-map.ts';
import { relinkReferences } from './relink-references.ts';
import type { SourceDocument, Spot } from './source-document.ts';
import { useStep } from './use-step.ts';

/** The keys that a step may have beside `uses` of a whole pipeline. */
const BESIDE_USES: ReadonlySet<string> = new Set(['uses', 'with', 'each', 'needs', 'when', 'inputs', 'description']);
const NO_PROGRAM: RawStep = { command: ['true'] };

/**
 * Builds one document from a pipeline file and all files that it includes and uses. The keys of a step file are merged
 * into the step that uses it. A used pipeline is checked on its own; then its steps become steps of this one, named
 * `<step>-<its step>`, and its inputs replace its volumes of the same names.
 */
export function assemblePipeline(root: SourceDocument, files: FileSet, ancestors: readonly string[] = []): Assembly {
  const { file, value, locate: locateInRoot } = root;
  const plain: Assembly = {
    file,
    value,
    paramDoubles: root.paramDoubles,
    locate: locateInRoot,
    diagnostics: [],
    unread: [],
  };
  if (!isRawMap(root.value)) return plain;
  const needsFiles =
    root.value.include !== undefined ||
    hasFileDefaults(root.value.params) ||
    ['steps', 'finally'].some((section) => usesFiles(root.value as RawMap, section));
  if (!needsFiles) return plain;
  const included = includeFiles({ ...root, value: root.value }, files);
  const presets = loadDefaults(included.value.params, { files, file, locate: locator(root, included.origins) });
  const work: AssemblyWork = {
    files,
    ancestors: [...ancestors, root.file],
    origins: included.origins,
    root,
    value: { ...included.value, ...(presets.params !== undefined && { params: presets.params }) },
    used: new Map(),
    bound: new Map(),
    boundNames: new Map(),
    brought: new Map(),
    diagnostics: [...included.diagnostics, ...presets.diagnostics],
    unread: [...presets.unread],
    usedSteps: 0,
  };
  for (const section of ['steps', 'finally'] as const) {
    const steps = work.value[section];
    if (!isRawMap(steps)) continue;
    for (const name of Object.keys(steps)) {
      const step = steps[name];
      if (isRawMap(step) && typeof step.uses === 'string') useFile(work, [section, name], step as unknown as RawStep);
    }
    placeSteps(work, section);
  }
  work.diagnostics.push(...locateFaults(findTakenNames(work), root));
  const linked = relink(work.value, work.used);
  const named = work.used.size === 0 ? { ...linked, faults: [] } : relinkReferences(linked.value, work.used);
  const locate = locator(root, work.origins);
  work.diagnostics.push(...locateFaults([...linked.faults, ...named.faults], { locate }));
  const { bound, diagnostics, unread } = work;
  const used = new Map([...work.used].map(([parent, { steps }]) => [parent, Object.keys(steps)]));
  const paramDoubles = new Map([...included.paramDoubles, ...presets.doubles]);
  return { file, value: named.value as Json, paramDoubles, bound, used, locate, diagnostics, unread };
}

/** Steps of used pipelines with the name of another step with `uses`, to which their own edges would lead. */
function findTakenNames({ used }: AssemblyWork): readonly Fault[] {
  return [...used].flatMap(([parent, flattened]) => {
    const names = [...Object.keys(flattened.steps), ...Object.keys(flattened.finally)];
    return names
      .filter((name) => used.has(name))
      .map((name) => {
        const message = `step \`${parent}\` adds a step \`${name}\`, but a step of this name already exists`;
        return { code: 'duplicate-key', message, path: ['steps', parent], on: 'key' as const };
      });
  });
}

function usesFiles(value: RawMap, section: string): boolean {
  const steps = own(value, section);
  if (!isRawMap(steps)) return false;
  for (const name in steps) {
    const step = steps[name];
    if (isRawMap(step) && step.uses !== undefined) return true;
  }
  return false;
}

function useFile(work: AssemblyWork, at: StepPath, step: RawStep): void {
  const locate = locator(work.root, work.origins);
  const report = (...faults: Fault[]): void => {
    work.diagnostics.push(...locateFaults(faults, { locate }));
  };
  const skip = (): void => {
    work.brought.set(at[1], { [at[1]]: NO_PROGRAM });
    work.unread.push(at);
  };
  const shape = checkShape(stepSchema, step as unknown as Json, { at });
  if (shape.length > 0) {
    report(...shape);
    skip();
    return;
  }
  const written = step.uses ?? '';
  const file = besideFile(locate({ path: [...at, 'uses'] })?.file ?? work.root.file, written);
  if (work.ancestors.includes(file)) {
    report({
      code: 'cycle',
      message: `${written} uses itself: ${[...work.ancestors, file].join(' -> ')}`,
      path: [...at, 'uses'],
    });
    skip();
    return;
  }
  const loaded = work.files.load(file);
  if (!loaded.ok) {
    if (typeof loaded.error !== 'string') work.diagnostics.push(...loaded.error);
    else
      report({ code: 'unreadable-file', message: `could not use ${written}: ${loaded.error}`, path: [...at, 'uses'] });
    skip();
    return;
  }
  const document = loaded.value;
  if (!isRawMap(document.value)) {
    report({ code: 'wrong-type', message: `${written} is neither a pipeline nor a step`, path: [...at, 'uses'] });
    skip();
    return;
  }
  const isPipeline = document.value.steps !== undefined || document.value.include !== undefined;
  if (isPipeline) usePipeline(work, { at, step, document, report, skip });
  else useStep(work, { at, step, document: { ...document, value: document.value }, report, skip });
}

function usePipeline(work: AssemblyWork, { at, step, document, report, skip }: Use): void {
  report(...findConflicts(step, at));
  const { assembly, pipeline } = checkUsed(work, document);
  if (pipeline === undefined) {
    skip();
    return;
  }
  work.usedSteps += pipeline.steps.length + pipeline.finally.length;
  if (work.usedSteps > MAX_USED_STEPS) {
    const message = `${step.uses} would exceed the maximum of ${MAX_USED_STEPS} steps from used pipelines`;
    report({ code: 'too-large', message, path: [...at, 'uses'] });
    skip();
    return;
  }
  const raw = assembly.value as unknown as RawPipeline;
  const given = bindVariables((step.with ?? {}) as RawMap, { env: work.value.env, at, report });
  const bound = bindWith(pipeline.params, given, { at, bind: (param, value) => bindValue(work, param, value) });
  report(...bound.faults);
  for (const name of Object.keys(step.inputs ?? {})) {
    if (Object.hasOwn(pipeline.volumes, name)) continue;
    report({
      code: 'unknown-volume',
      message: `the used pipeline has no volume \`${name}\` that this input could replace`,
      path: [...at, 'inputs', name],
      on: 'key',
    });
  }
  const [section, parent] = at;
  const flattened = flattenPipeline({
    parent,
    step,
    uses: step.uses ?? '',
    raw,
    pipeline,
    replaceParams: adoptBound(work, { pipeline, replaceParams: bound.replaceParams }),
  });
  work.used.set(parent, flattened);
  const taken = (noun: string, names: readonly string[]): void => {
    const tell = (name: string): Fault => {
      const message = `step \`${parent}\` adds a ${noun} \`${name}\`, but a ${noun} of this name already exists`;
      return { code: 'duplicate-key', message, path: at, on: 'key' };
    };
    report(...names.map(tell));
  };
  taken('volume', addTo(work, 'volumes', flattened.volumes));
  taken('axis', addTo(work, 'axes', flattened.axes));
  addTo(work, 'pools', raw.pools ?? {});
  const { secrets } = work.value;
  if (raw.secrets !== undefined && (secrets === undefined || Array.isArray(secrets))) {
    work.value.secrets = [...new Set([...(secrets ?? []), ...raw.secrets])];
  }
  work.brought.set(parent, { ...flattened.steps, ...(section === 'finally' && flattened.finally) });
  if (section === 'steps') taken('step', addTo(work, 'finally', flattened.finally as unknown as RawMap));
  rememberOrigins(work, { at, assembly, flattened });
}

/** Keeps the bound values of a used pipeline, whose own names may exist here already. */
function adoptBound(
  work: AssemblyWork,
  { pipeline, replaceParams }: Pick<UsedPipeline, 'pipeline' | 'replaceParams'>,
): UsedPipeline['replaceParams'] {
  const names = new Map(
    Object.entries(pipeline.bound ?? {}).map(([name, value]) => [
      name,
      bindValue(work, name.replace(/_\d+$/, ''), value),
    ]),
  );
  return (reference) => {
    const [before = '', ...rest] = reference.keys;
    const name = reference.root === 'bound' ? names.get(before) : undefined;
    return name === undefined ? replaceParams(reference) : { source: `bound.${name}`, rest };
  };
}

function findConflicts(step: RawStep, at: StepPath): readonly Fault[] {
  const conflicts = Object.keys(step).filter((key) => !BESIDE_USES.has(key) && !key.startsWith('x-'));
  return conflicts.map((key) => ({
    code: 'conflicting-keys',
    message: `a step that uses a pipeline cannot have \`${key}\``,
    path: [...at, key],
    on: 'key',
    hint: `it may have ${[...BESIDE_USES].join(', ')}`,
  }));
}

function checkUsed(work: AssemblyWork, document: SourceDocument): UsedFile {
  const known = work.files.used.get(document.file);
  if (known !== undefined) return known;
  const assembly = assemblePipeline(document, work.files, work.ancestors);
  const { pipeline, faults } = checkDocument(assembly.value, { ...assembly, suspicious: true });
  const diagnostics = [...assembly.diagnostics, ...locateFaults(faults, assembly)];
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  work.diagnostics.push(...errors);
  const used = { assembly, pipeline: errors.length === 0 ? pipeline : undefined };
  work.files.used.set(document.file, used);
  return used;
}

function rememberOrigins(
  work: AssemblyWork,
  { at: [section, parent], assembly, flattened }: { at: StepPath; assembly: Assembly; flattened: Flattened },
): void {
  for (const name of Object.keys(flattened.volumes)) {
    const written = name.slice(parent.length + 1);
    work.origins.set(`volumes\0${name}`, (spot) =>
      assembly.locate({ ...spot, path: ['volumes', written, ...spot.path.slice(2)] }),
    );
  }
  for (const from of ['steps', 'finally'] as const) {
    for (const name of Object.keys(flattened[from])) {
      const inner = (spot: Spot): ReturnType<Assembly['locate']> =>
        assembly.locate({ ...spot, path: [from, name.slice(parent.length + 1), ...spot.path.slice(2)] });
      work.origins.set(`${section}\0${name}`, inner);
      work.origins.set(`${from}\0${name}`, inner);
    }
  }
}
