import type { Fault } from '../checks/fault.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { Json } from '../model/json.ts';
import type { RawStep } from '../schema/step-schema.ts';
import { type Assembly, type FileSet, isRawMap, type Origins, type RawMap } from './file-set.ts';
import type { Flattened } from './flatten-pipeline.ts';
import { optional } from './resolve-step.ts';
import type { Path, SourceDocument } from './source-document.ts';

/** A document that is being assembled; what has been used already has taken its place in `value`. */
export interface AssemblyWork {
  readonly files: FileSet;
  readonly ancestors: readonly string[];
  readonly origins: Origins;
  readonly root: SourceDocument;
  readonly value: Record<string, Json>;
  readonly used: Map<string, Flattened>;
  /** By step of the section at hand: the steps that take its place. */
  readonly brought: Map<string, Readonly<Record<string, RawStep>>>;
  readonly diagnostics: Diagnostic[];
  readonly unread: Path[];
  /** How many steps used pipelines have brought. */
  usedSteps: number;
}

/** Section and name of a step. */
export type StepPath = readonly ['steps' | 'finally', string];

/** A step, and the document that it uses. */
export interface Use {
  readonly at: StepPath;
  readonly step: RawStep;
  readonly document: SourceDocument;
  readonly report: (...faults: Fault[]) => void;
  /** Continues without the content of the file. */
  readonly skip: () => void;
}

/** Tells where a place of the assembled document stands in the files that it was made of. */
export function locator(root: SourceDocument, origins: Origins): Assembly['locate'] {
  return (spot) => (origins.get(`${spot.path[0]}\0${spot.path[1]}`) ?? root.locate)(spot);
}

/** Puts what the section's steps have brought where they stand, all at once: there may be thousands. */
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

/** Gives the names that were there already: they stay as they are. What is no map stays for the checks. */
export function addTo(work: AssemblyWork, key: 'finally' | 'volumes' | 'pools', added: RawMap): readonly string[] {
  const present = work.value[key] ?? {};
  if (!isRawMap(present)) return [];
  const names = Object.keys(added);
  if (names.length > 0) work.value[key] = { ...added, ...present };
  return names.filter((name) => Object.hasOwn(present, name));
}
