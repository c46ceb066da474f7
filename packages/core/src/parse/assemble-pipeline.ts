import { checkShape } from '../checks/check-shape.ts';
import type { Fault } from '../checks/fault.ts';
import { rewriteTemplates } from '../expressions/rewrite-templates.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { Json } from '../model/json.ts';
import { paramSchema, type RawPipeline } from '../schema/pipeline-schema.ts';
import { type RawStep, stepSchema } from '../schema/step-schema.ts';
import { bindWith } from './bind-with.ts';
import { checkDocument, keysAt } from './check-document.ts';
import { type Assembly, besideFile, type FileSet, isRawMap, type Origins, type RawMap } from './file-set.ts';
import { type Flattened, flattenPipeline, relink } from './flatten-pipeline.ts';
import { includeFiles } from './include-files.ts';
import { locateFaults } from './locate-faults.ts';
import { relinkReferences } from './relink-references.ts';
import { isLongParam, PARAM_KEYS, resolvePipeline } from './resolve-pipeline.ts';
import { applyDefaults } from './resolve-step.ts';
import type { Path, SourceDocument, Spot } from './source-document.ts';

/** What a step may say beside `uses` of a whole pipeline. */
const BESIDE_USES: ReadonlySet<string> = new Set(['uses', 'with', 'needs', 'when', 'inputs', 'description']);
const NO_PROGRAM: RawStep = { command: ['true'] };

/**
 * One document from a pipeline file and all that it includes and uses. A used step file lends its keys to the step
 * that uses it. A used pipeline is checked by itself, then its steps become steps of this one, named
 * `<step>-<its step>`; its inputs take the place of its volumes of the same names.
 */
export function assemblePipeline(root: SourceDocument, files: FileSet, ancestors: readonly string[] = []): Assembly {
  const plain: Assembly = { file: root.file, value: root.value, locate: root.locate, diagnostics: [], unread: [] };
  if (!isRawMap(root.value)) return plain;
  const needsFiles =
    root.value.include !== undefined ||
    ['steps', 'finally'].some((section) => usesFiles(root.value as RawMap, section));
  if (!needsFiles) return plain;
  const included = includeFiles({ ...root, value: root.value }, files);
  const work: Work = {
    files,
    ancestors: [...ancestors, root.file],
    origins: included.origins,
    root,
    value: { ...included.value },
    used: new Map(),
    diagnostics: [...included.diagnostics],
    unread: [],
  };
  for (const section of ['steps', 'finally'] as const) {
    const steps = work.value[section];
    if (!isRawMap(steps)) continue;
    for (const name of Object.keys(steps)) {
      const step = steps[name];
      if (isRawMap(step) && typeof step.uses === 'string') useFile(work, [section, name], step as unknown as RawStep);
    }
  }
  const linked = relink(work.value, work.used);
  const named = work.used.size === 0 ? { ...linked, faults: [] } : relinkReferences(linked.value, work.used);
  const locate = locator(root, work.origins);
  work.diagnostics.push(...locateFaults([...linked.faults, ...named.faults], { locate }));
  return { file: root.file, value: named.value as Json, locate, diagnostics: work.diagnostics, unread: work.unread };
}

interface Work {
  readonly files: FileSet;
  readonly ancestors: readonly string[];
  readonly origins: Origins;
  readonly root: SourceDocument;
  readonly value: Record<string, Json>;
  readonly used: Map<string, Flattened>;
  readonly diagnostics: Diagnostic[];
  readonly unread: Path[];
}

function usesFiles(value: RawMap, section: string): boolean {
  const steps = value[section];
  if (!isRawMap(steps)) return false;
  for (const name in steps) {
    const step = steps[name];
    if (isRawMap(step) && step.uses !== undefined) return true;
  }
  return false;
}

function locator(root: SourceDocument, origins: Origins): Assembly['locate'] {
  return (spot) => (origins.get(`${spot.path[0]}\0${spot.path[1]}`) ?? root.locate)(spot);
}

type StepPath = readonly ['steps' | 'finally', string];

function useFile(work: Work, at: StepPath, step: RawStep): void {
  const locate = locator(work.root, work.origins);
  const report = (...faults: Fault[]): void => {
    work.diagnostics.push(...locateFaults(faults, { locate }));
  };
  const skip = (): void => {
    replaceStep(work, at, NO_PROGRAM);
    work.unread.push(at);
  };
  const shape = checkShape(stepSchema, step as unknown as Json, { at, keysAt });
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
      report({ code: 'unreadable-file', message: `${written} cannot be used: ${loaded.error}`, path: [...at, 'uses'] });
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
  else useStep(work, { at, step, document: { ...document, value: document.value }, report });
}

interface Use {
  readonly at: StepPath;
  readonly step: RawStep;
  readonly document: SourceDocument;
  readonly report: (...faults: Fault[]) => void;
}

function usePipeline(work: Work, { at, step, document, report, skip }: Use & { readonly skip: () => void }): void {
  for (const key of Object.keys(step)) {
    if (BESIDE_USES.has(key) || key.startsWith('x-')) continue;
    report({
      code: 'conflicting-keys',
      message: `a step that uses a pipeline cannot have \`${key}\``,
      path: [...at, key],
      on: 'key',
      hint: `it may have ${[...BESIDE_USES].join(', ')}`,
    });
  }
  const assembly = assemblePipeline(document, work.files, work.ancestors);
  const checked = checkDocument(assembly.value, { unread: assembly.unread, suspicious: true });
  const diagnostics = [...assembly.diagnostics, ...locateFaults(checked.faults, assembly)];
  work.diagnostics.push(...diagnostics.filter(({ severity }) => severity === 'error'));
  if (checked.pipeline === undefined || diagnostics.some(({ severity }) => severity === 'error')) {
    skip();
    return;
  }
  const raw = assembly.value as unknown as RawPipeline;
  const bound = bindWith(checked.pipeline.params, (step.with ?? {}) as RawMap, at);
  report(...bound.faults);
  for (const name of Object.keys(step.inputs ?? {})) {
    if (Object.hasOwn(checked.pipeline.volumes, name)) continue;
    report({
      code: 'unknown-volume',
      message: `the used pipeline has no volume \`${name}\` whose place this input could take`,
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
    pipeline: checked.pipeline,
    params: bound.values,
  });
  work.used.set(parent, flattened);
  addTo(work, 'volumes', flattened.volumes);
  addTo(work, 'pools', raw.pools ?? {});
  const { secrets } = work.value;
  if (raw.secrets !== undefined && (secrets === undefined || Array.isArray(secrets))) {
    work.value.secrets = [...new Set([...(secrets ?? []), ...raw.secrets])];
  }
  replaceStep(work, at, undefined, { ...flattened.steps, ...(section === 'finally' && flattened.finally) });
  if (section === 'steps') addTo(work, 'finally', flattened.finally as unknown as RawMap);
  rememberOrigins(work, { at, assembly, flattened });
}

/** What the pipeline has under that name already goes first; what is no map stays for the checks. */
function addTo(work: Work, key: 'finally' | 'volumes' | 'pools', added: RawMap): void {
  const present = work.value[key];
  if (Object.keys(added).length === 0 || (present !== undefined && !isRawMap(present))) return;
  work.value[key] = { ...added, ...(present as RawMap | undefined) };
}

function rememberOrigins(
  work: Work,
  { at: [section, parent], assembly, flattened }: { at: StepPath; assembly: Assembly; flattened: Flattened },
): void {
  for (const from of ['steps', 'finally'] as const) {
    for (const name of Object.keys(flattened[from])) {
      const inner = (spot: Spot): ReturnType<Assembly['locate']> =>
        assembly.locate({ ...spot, path: [from, name.slice(parent.length + 1), ...spot.path.slice(2)] });
      work.origins.set(`${section}\0${name}`, inner);
      work.origins.set(`${from}\0${name}`, inner);
    }
  }
}

/** A step file: the keys of one step, and `params`. The using step's own keys go before its keys. */
function useStep(
  work: Work,
  { at, step, document, report }: Use & { readonly document: { readonly value: RawMap } },
): void {
  const {
    params,
    version: _version,
    name: _name,
    $schema: _schema,
    ...keys
  } = document.value as { readonly [key: string]: Json };
  const sound = soundParams(params, document, work);
  const declared = resolvePipeline({ version: 1, name: 'step', params: sound as never }).params;
  const bound = bindWith(declared, (step.with ?? {}) as RawMap, at);
  report(...bound.faults);
  const lent = rewriteTemplates(keys, ({ root, keys: [name, ...rest] }) => {
    if (root !== 'params' || name === undefined || !bound.values.has(name)) return undefined;
    return `${bound.values.get(name)}${rest.map((key) => `[${JSON.stringify(key)}]`).join('')}`;
  }) as unknown as RawStep;
  const { uses: _uses, with: _with, ...own } = step;
  const outer = work.origins.get(at.join('\0')) ?? work.root.locate;
  replaceStep(work, at, applyDefaults(own as RawStep, lent));
  work.origins.set(at.join('\0'), (spot) => {
    const key = spot.path[2];
    const isOwn = key === undefined || Object.hasOwn(own, key);
    return isOwn ? outer(spot) : document.locate({ ...spot, path: spot.path.slice(2) });
  });
}

/** The parameters of a step file that are well-formed; the others are reported. */
function soundParams(params: Json | undefined, document: SourceDocument, work: Work): RawMap {
  if (!isRawMap(params)) return {};
  const faults = Object.keys(params).flatMap((name) => {
    const param = params[name] ?? null;
    return isLongParam(param) ? checkShape(paramSchema, param, { at: ['params', name], keysAt: () => PARAM_KEYS }) : [];
  });
  work.diagnostics.push(...locateFaults(faults, document));
  const faulty = new Set(faults.map(({ path }) => path[1]));
  return Object.fromEntries(Object.entries(params).filter(([name]) => !faulty.has(name)));
}

/** Puts one step, or several, where the step stands. */
function replaceStep(
  work: Work,
  [section, name]: StepPath,
  step: RawStep | undefined,
  several: Readonly<Record<string, RawStep>> = {},
): void {
  const entries = Object.entries(work.value[section] as RawMap).flatMap(([key, value]): [string, Json][] => {
    if (key !== name) return [[key, value]];
    if (step !== undefined) return [[key, step as unknown as Json]];
    return Object.entries(several) as unknown as [string, Json][];
  });
  const twice = entries.find(([key], index) => entries.findIndex(([other]) => other === key) !== index);
  if (twice !== undefined) {
    work.diagnostics.push({
      code: 'duplicate-key',
      severity: 'error',
      message: `step \`${name}\` brings a step \`${twice[0]}\`, and there is one of that name`,
    });
  }
  work.value[section] = Object.fromEntries(entries);
}
