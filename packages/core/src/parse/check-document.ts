import { ALL_CHECKS } from '../checks/all-checks.ts';
import { createCheckContext } from '../checks/check-context.ts';
import { checkShape } from '../checks/check-shape.ts';
import { createConsequenceTest } from '../checks/create-consequence-test.ts';
import type { Fault } from '../checks/fault.ts';
import type { Json } from '../model/json.ts';
import { MAX_DEPTH } from '../model/json-fault.ts';
import { own } from '../model/own.ts';
import type { Pipeline } from '../model/pipeline.ts';
import { isPlainStep } from '../schema/is-plain-step.ts';
import { pipelineSchema, type RawPipeline } from '../schema/pipeline-schema.ts';
import { stepSchema } from '../schema/step-schema.ts';
import { type BesideDocument, resolvePipeline } from './resolve-pipeline.ts';
import type { Path } from './source-document.ts';

/** The model of a document; valid only if no fault is an error. */
export interface CheckedDocument {
  /** Undefined if the document is not a map. */
  readonly pipeline: Pipeline | undefined;
  readonly faults: readonly Fault[];
}

/**
 * Checks a document of any origin and builds its model. `unread`: paths that another file should have supplied.
 * `suspicious`: the text may contain `__proto__`, so every key is inspected.
 */
export function checkDocument(
  value: Json,
  options: BesideDocument & { readonly suspicious?: boolean; readonly unread?: readonly Path[] } = {},
): CheckedDocument {
  const shape = [
    ...(options.suspicious === true ? protoFaults(value, []) : []),
    ...checkShape(pipelineSchema, withoutPlainSteps(value), { document: value }),
  ];
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { pipeline: undefined, faults: shape };
  shape.push(...shape.flatMap((fault) => faultsOfMisnamed(fault, value as RawMap)));
  const raw = soundPart(value, shape) as unknown as RawPipeline;
  const pipeline = resolvePipeline(raw, options);
  const faults = [...shape];
  const unread = (options.unread ?? []).map((path): Fault => ({ code: 'unreadable-file', message: '', path }));
  const isConsequence = createConsequenceTest([...shape, ...unread]);
  const context = createCheckContext(raw, pipeline, (fault) => {
    // Faults that only follow from an unreadable part are omitted.
    if (!isConsequence(fault)) faults.push(fault);
  });
  for (const check of ALL_CHECKS) check(context);
  return { pipeline, faults };
}

/**
 * The document without the parts with shape faults: a map that thereby loses a required key is removed too, and so on
 * upward.
 */
function soundPart(value: Json, shape: readonly Fault[]): Json {
  let sound = value;
  let faults = shape;
  for (let round = 0; faults.length > 0 && round < MAX_DEPTH; round++) {
    sound = prune(
      sound,
      faults.map(({ path }) => path),
    );
    faults = checkShape(pipelineSchema, withoutPlainSteps(sound)).filter(({ path }) => path.length > 0);
  }
  return sound;
}

type RawMap = Readonly<Record<string, Json>>;

/** Checks steps with invalid names too, which the schema library skips. */
function faultsOfMisnamed({ code, path }: Fault, root: RawMap): readonly Fault[] {
  const [section, name] = path;
  if (code !== 'bad-name' || path.length !== 2 || (section !== 'steps' && section !== 'finally')) return [];
  const step = own(root[section] as RawMap, String(name));
  return step === undefined ? [] : checkShape(stepSchema, step, { at: path });
}

/** The part that the schema still has to check. */
function withoutPlainSteps(value: Json): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const { steps } = value as Readonly<Record<string, Json>>;
  if (typeof steps !== 'object' || steps === null || Array.isArray(steps)) return value;
  const map = steps as Readonly<Record<string, Json>>;
  const rest = Object.keys(map).filter((name) => !isPlainStep(name, own(map, name)));
  return { ...value, steps: Object.fromEntries(rest.map((name) => [name, own(map, name) ?? null])) };
}

/**
 * `__proto__` is not allowed as a name: the schema library drops it silently, and JavaScript objects treat it
 * specially.
 */
function protoFaults(value: Json, path: Path): readonly Fault[] {
  if (typeof value !== 'object' || value === null) return [];
  const faults: Fault[] = [];
  for (const key of Object.keys(value)) {
    const at = [...path, Array.isArray(value) ? Number(key) : key];
    if (key === '__proto__')
      faults.push({ code: 'bad-name', message: 'the name `__proto__` cannot be used', path: at, on: 'key' });
    else faults.push(...protoFaults(own(value as Readonly<Record<string, Json>>, key) ?? null, at));
  }
  return faults;
}

/**
 * A copy without the values at `paths`, so that the rest can be checked. Lists are removed as a whole, to keep indexes
 * valid.
 */
function prune(value: Json, paths: readonly Path[]): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const gone = new Set<string>();
  const below = new Map<string, Path[]>();
  for (const [key, ...rest] of paths) {
    if (key === undefined) continue;
    const name = String(key);
    const deeper = below.get(name);
    if (rest.length === 0) gone.add(name);
    else if (deeper === undefined) below.set(name, [rest]);
    else deeper.push(rest);
  }
  const kept: [string, Json][] = [];
  for (const [key, inner] of Object.entries(value)) {
    const deeper = below.get(key);
    if (gone.has(key)) continue;
    if (deeper === undefined) kept.push([key, inner]);
    else if (typeof inner === 'object' && inner !== null && !Array.isArray(inner))
      kept.push([key, prune(inner, deeper)]);
  }
  return Object.fromEntries(kept);
}
