import type { Fault } from '../checks/fault.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { Json } from '../model/json.ts';
import type { BoundValue } from '../model/param.ts';
import type { RawStep } from '../schema/step-schema.ts';
import type { Assembly, FileSet, Origins } from './file-set.ts';
import type { Flattened } from './flatten-pipeline.ts';
import { isRawMap, type RawMap } from './raw-map.ts';
import { optional } from './resolve-step.ts';
import type { Path, SourceDocument } from './source-document.ts';

/** A document during assembly; the parts assembled so far are in `value`. */
export interface AssemblyWork {
  readonly files: FileSet;
  readonly ancestors: readonly string[];
  readonly origins: Origins;
  readonly root: SourceDocument;
  readonly value: Record<string, Json>;
  readonly used: Map<string, Flattened>;
  /** By name in expressions: lists and maps of used files. */
  readonly bound: Map<string, BoundValue>;
  /** The names of `bound` by their values: the same default is bound once, however often its file is used. */
  readonly boundNames: Map<Json, string>;
  /** By step of the current section: the steps that replace it. */
  readonly brought: Map<string, Readonly<Record<string, RawStep>>>;
  readonly diagnostics: Diagnostic[];
  readonly unread: Path[];
  /** Number of steps from used pipelines so far. */
  usedSteps: number;
}

/** Section and name of a step. */
export type StepPath = readonly ['steps' | 'finally', string];

/** A step and the document that it uses. */
export interface Use {
  readonly at: StepPath;
  readonly step: RawStep;
  readonly document: SourceDocument;
  readonly report: (...faults: Fault[]) => void;
  /** Continues without the content of the file. */
  readonly skip: () => void;
}

/** Returns a function that maps positions of the assembled document to its files. */
export function locator(root: SourceDocument, origins: Origins): Assembly['locate'] {
  return (spot) => (origins.get(`${spot.path[0]}\0${spot.path[1]}`) ?? root.locate)(spot);
}

/** Replaces the steps of a section that use pipelines, all at once: there may be thousands. */
export function placeSteps(work: AssemblyWork, section: StepPath[0]): void {
  const placed: Record<string, Json> = {};
  const put = (name: string, step: Json, from: string): void => {
    if (Object.hasOwn(placed, name)) {
      work.diagnostics.push({
        code: 'duplicate-key',
        severity: 'error',
        message: `step \`${from}\` adds a step \`${name}\`, but a step of this name already exists`,
        ...optional('range', locator(work.root, work.origins)({ path: [section, from], on: 'key' })),
      });
    }
    placed[name] = step;
  };
  const bringers = new Map<string, string>();
  for (const [name, step] of Object.entries(work.value[section] as RawMap)) {
    const brought = work.brought.get(name);
    if (brought === undefined) put(name, step, bringers.get(name) ?? name);
    else
      for (const [inner, one] of Object.entries(brought)) {
        put(inner, one as unknown as Json, name);
        bringers.set(inner, name);
      }
  }
  work.value[section] = placed;
  work.brought.clear();
}

/**
 * Adds entries to a section and returns the names that existed already, which stay unchanged. Leaves a section that is
 * not a map for the checks to report.
 */
export function addTo(
  work: AssemblyWork,
  key: 'finally' | 'volumes' | 'axes' | 'pools',
  added: RawMap,
): readonly string[] {
  const present = work.value[key] ?? {};
  if (!isRawMap(present)) return [];
  const names = Object.keys(added);
  if (names.length > 0) work.value[key] = { ...added, ...present };
  return names.filter((name) => Object.hasOwn(present, name));
}

const LONGEST_NAME = 80;

/** Binds a list or a map of the parameter of a used file. Returns its name in expressions. */
export function bindValue(work: AssemblyWork, param: string, bound: BoundValue): string {
  const known = work.boundNames.get(bound.value);
  if (known !== undefined && JSON.stringify(work.bound.get(known)?.doubles) === JSON.stringify(bound.doubles))
    return known;
  const name = `${param.replaceAll('-', '_').slice(0, LONGEST_NAME)}_${work.bound.size}`;
  work.bound.set(name, bound);
  work.boundNames.set(bound.value, name);
  return name;
}
