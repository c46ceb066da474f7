import { own } from '../model/own.ts';
import type { Step } from '../model/pipeline.ts';
import { fail, ok, type Result } from '../model/result.ts';
import { showJson } from '../render/show-json.ts';
import type { ContextFor } from '../resolve/evaluate.ts';
import type { CellKey } from './cell-keys.ts';

/** What can be different for each cell of a step. */
export type CellValues = Pick<
  Step,
  'timeoutMs' | 'queueTimeoutMs' | 'deadlineMs' | 'priority' | 'resources' | 'retry' | 'placement' | 'pools'
>;

/** Evaluated expressions of a cell by the name of the key, such as `resources.memory`, in the units of `CellValues`. */
export type KeyValues = Readonly<Record<string, number | string>>;

/** What the cells of a step have in common. */
export function fixedValues({
  timeoutMs,
  queueTimeoutMs,
  deadlineMs,
  priority,
  resources,
  retry,
  placement,
  pools,
}: CellValues): CellValues {
  return {
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(queueTimeoutMs !== undefined && { queueTimeoutMs }),
    ...(deadlineMs !== undefined && { deadlineMs }),
    ...(resources && { resources }),
    ...(placement && { placement }),
    ...{ priority, retry, pools },
  };
}

/** Evaluates expressions of a step for one cell. The error names the key. */
export function evaluateKeys(keys: readonly CellKey[], contextFor: ContextFor): Result<KeyValues, string> {
  const values: Record<string, number | string> = {};
  for (const { name, compiled, read } of keys) {
    const value = compiled.ok
      ? compiled.value.evaluate(contextFor(compiled.value.references))
      : fail(compiled.error.message);
    if (!value.ok) return fail(`\`${name}\` cannot be evaluated: ${value.error}`);
    const found = read(value.value);
    if (!found.ok) return fail(`\`${name}\` yields ${showJson(value.value)}, ${found.error}`);
    values[name] = found.value;
  }
  return ok(values);
}

/** A copy with the values of these keys. */
export function withKeyValues(before: CellValues, keys: readonly CellKey[], values: KeyValues): CellValues {
  let after: unknown = before;
  for (const { name, target } of keys) after = withValue(after, target, own(values, name)!);
  return after as CellValues;
}

/** A copy with a value at a path. */
function withValue(before: unknown, [key, ...inner]: CellKey['target'], value: number | string): unknown {
  if (key === undefined) return value;
  if (typeof key === 'number') {
    const list = [...((before ?? []) as readonly unknown[])];
    list[key] = withValue(list[key], inner, value);
    return list;
  }
  const known = (before ?? {}) as Readonly<Record<string, unknown>>;
  return { ...known, [key]: withValue(own(known, key), inner, value) };
}

/** Why the values of a cell contradict each other; undefined if they do not. */
export function findConflict({ timeoutMs, deadlineMs, retry: { backoff } }: CellValues): string | undefined {
  if (deadlineMs !== undefined && timeoutMs !== undefined && deadlineMs < timeoutMs)
    return '`deadline` (for all attempts together) is shorter than `timeout` (for one attempt)';
  return backoff.maxMs < backoff.initialMs ? '`retry.backoff` has a `max` below its `initial`' : undefined;
}
