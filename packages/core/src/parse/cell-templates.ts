import { hasExpression } from '../expressions/split-template.ts';
import type { Step } from '../model/pipeline.ts';
import type { RawStep } from '../schema/step-schema.ts';

/** Resources without expressions. */
export type FixedResources = Exclude<NonNullable<Extract<RawStep['retry'], object>['escalate']>[number], string>;

const PER_CELL = ['timeout', 'queueTimeout', 'deadline', 'priority'] as const;

/** The keys that have expressions; undefined if there are none. */
export function resolveCellTemplates(raw: RawStep): Step['perCell'] {
  const templates = templatesOf(raw, PER_CELL);
  const resources = raw.resources && templatesOf(raw.resources, ['cpu', 'memory', 'gpu', 'gpuModel']);
  const isPlain = templates === undefined && resources === undefined;
  return isPlain ? undefined : { ...templates, ...(resources && { resources }) };
}

function templatesOf<K extends string>(
  raw: { readonly [P in K]?: unknown },
  keys: readonly K[],
): { readonly [P in K]?: string } | undefined {
  const found = keys.filter((key) => isTemplate(raw[key]));
  return found.length === 0 ? undefined : (Object.fromEntries(found.map((key) => [key, raw[key]])) as never);
}

function isTemplate(value: unknown): value is string {
  return typeof value === 'string' && hasExpression(value);
}

/** The value if it is the same for all cells. */
export function fixedText(value: string | undefined): string | undefined {
  return isTemplate(value) ? undefined : value;
}

/** The resources that are the same for all cells. */
export function withoutTemplates(raw: NonNullable<RawStep['resources']>): FixedResources {
  return Object.fromEntries(Object.entries(raw).filter(([, value]) => !isTemplate(value)));
}
