import { own } from '../model/own.ts';
import type { Pipeline, Step } from '../model/pipeline.ts';
import type { Path } from '../parse/source-document.ts';
import type { RawPipeline } from '../schema/pipeline-schema.ts';
import type { RawStep } from '../schema/step-schema.ts';
import type { Report } from './fault.ts';
import { suggestName } from './nearest-name.ts';

/** The input of every check: the model for its meaning, the raw file for positions. */
export interface CheckContext {
  readonly raw: RawPipeline;
  readonly pipeline: Pipeline;
  /** By name, in the order of `allSteps`. If two steps have the same name, the first. */
  readonly steps: ReadonlyMap<string, CheckedStep>;
  readonly report: Report;
  /** The hint for the name of a step that does not exist. */
  readonly suggestStep: (name: string) => { readonly hint?: string };
}

/** A step of the model with its raw form. */
export interface CheckedStep {
  readonly step: Step;
  /** Belongs to `finally`. */
  readonly final: boolean;
  /** Its position in the file. */
  readonly path: Path;
  readonly raw: RawStep;
}

/** A check reports faults and does nothing else. */
export type Check = (context: CheckContext) => void;

/** Builds the context; `raw` must have a valid shape. */
export function createCheckContext(raw: RawPipeline, pipeline: Pipeline, report: Report): CheckContext {
  const steps = new Map<string, CheckedStep>();
  for (const section of ['steps', 'finally'] as const) {
    for (const step of pipeline[section]) {
      const written = own(raw[section], step.name);
      if (steps.has(step.name)) continue;
      steps.set(step.name, {
        step,
        final: section === 'finally',
        path: [section, step.name],
        raw: (written ?? {}) as RawStep,
      });
    }
  }
  const names = new Set(steps.keys());
  return { raw, pipeline, steps, report, suggestStep: (name) => suggestName(name, names) };
}

/** The position of a key of a step: in the step, else in `defaults`, else (for `env`) at the top level. */
export function pathInStep(context: CheckContext, { path, raw }: CheckedStep, keys: Path): Path {
  if (holds(raw, keys)) return [...path, ...keys];
  if (holds(context.raw.defaults, keys)) return ['defaults', ...keys];
  return keys[0] === 'env' && holds(context.raw, keys) ? keys : [...path, ...keys];
}

function holds(value: unknown, keys: Path): boolean {
  let inner = value;
  // Maps are merged at their second key, so deeper keys have the same origin.
  for (const key of keys.slice(0, 2)) {
    if (typeof inner === 'string') return true;
    if (typeof inner !== 'object' || inner === null || !Object.hasOwn(inner, key)) return false;
    inner = own(inner as Readonly<Record<string, unknown>>, String(key));
  }
  return true;
}
