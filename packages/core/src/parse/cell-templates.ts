import { hasExpression } from '../expressions/split-template.ts';
import type { CellTemplates, PlacementTemplates, ResourceTemplates, RetryTemplates } from '../model/cell-templates.ts';
import { own } from '../model/own.ts';
import type { Step } from '../model/pipeline.ts';
import type { RawStep } from '../schema/step-schema.ts';

type RawResources = NonNullable<RawStep['resources']>;
type RawPlacement = NonNullable<RawStep['placement']>;

const PER_CELL = ['timeout', 'queueTimeout', 'deadline', 'priority'] as const;

/** The keys that have expressions; undefined if there are none. */
export function resolveCellTemplates(raw: RawStep): Step['perCell'] {
  const templates = templatesOf(raw, PER_CELL);
  const resources = raw.resources && resourceTemplates(raw.resources);
  const retry = raw.retry === undefined ? undefined : retryTemplates(raw.retry);
  const placement = raw.placement && placementTemplates(raw.placement);
  const pools = raw.pools && (templatesOf(raw.pools, Object.keys(raw.pools)) as CellTemplates['pools']);
  const all = {
    ...templates,
    ...(resources && { resources }),
    ...(retry && { retry }),
    ...(placement && { placement }),
    ...(pools && { pools }),
  };
  return Object.keys(all).length === 0 ? undefined : all;
}

function resourceTemplates(raw: RawResources): ResourceTemplates | undefined {
  return templatesOf(raw, ['cpu', 'memory', 'gpu', 'gpuModel', 'time']);
}

/** The order of a list, and which clusters are in it, is that of the whole list. */
function placementTemplates(raw: RawPlacement): PlacementTemplates | undefined {
  if (isFixedPlacement(raw)) return undefined;
  const { cluster, anyOf, ordered } = raw;
  return { ...(cluster !== undefined && { cluster }), ...(anyOf && { anyOf }), ...(ordered && { ordered }) };
}

/** Whether the placement is the same for all cells. */
export function isFixedPlacement({ cluster, anyOf = [], ordered = [] }: RawPlacement): boolean {
  return ![cluster, ...anyOf, ...ordered].some(isTemplate);
}

function retryTemplates(raw: NonNullable<RawStep['retry']>): RetryTemplates | undefined {
  if (typeof raw !== 'object') return typeof raw === 'string' ? { limit: raw } : undefined;
  const counts = templatesOf(raw, ['limit', 'infrastructure']);
  const backoff = raw.backoff && templatesOf(raw.backoff, ['initial', 'factor', 'max']);
  const levels = raw.escalate?.map((level) => (typeof level === 'string' ? undefined : resourceTemplates(level)));
  const escalate = levels?.some((level) => level !== undefined) ? levels.map((level) => level ?? {}) : undefined;
  if (counts === undefined && backoff === undefined && escalate === undefined) return undefined;
  return { ...counts, ...(backoff && { backoff }), ...(escalate && { escalate }) };
}

function templatesOf<K extends string>(
  raw: { readonly [P in K]?: unknown },
  keys: readonly K[],
): { readonly [P in K]?: string } | undefined {
  const found = keys.filter((key) => isTemplate(own(raw, key)));
  return found.length === 0 ? undefined : (Object.fromEntries(found.map((key) => [key, own(raw, key)])) as never);
}

function isTemplate(value: unknown): value is string {
  return typeof value === 'string' && hasExpression(value);
}

/** The text if it is the same for all cells. */
export function fixedText(value: string | undefined): string | undefined {
  return isTemplate(value) ? undefined : value;
}

/** The number if it is the same for all cells. */
export function fixedNumber(value: number | string | undefined): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

/** The slots that are the same for all cells. */
export function fixedPools(pools: RawStep['pools'] = {}): Readonly<Record<string, number>> {
  return Object.fromEntries(
    Object.entries(pools).flatMap(([name, amount]) => (typeof amount === 'number' ? [[name, amount]] : [])),
  );
}
