import { compileTemplate, toText } from '../expressions/template.ts';
import type { CellTemplates, ResourceTemplates } from '../model/cell-templates.ts';
import type { Json } from '../model/json.ts';
import { fail, ok, type Result } from '../model/result.ts';
import { MAX_RETRIES } from '../model/retry-limits.ts';
import type { Template } from '../model/template.ts';
import { parseDuration } from '../schema/duration.ts';
import { DURATION, NAME, SIZE } from '../schema/patterns.ts';
import { parseSize } from '../schema/size.ts';

type Path = readonly (string | number)[];

/** One expression of `CellTemplates`, and what it sets. */
export interface CellKey {
  /** Its place in a step of a file, with `retry` in the long form. */
  readonly path: Path;
  /** The same as text, which identifies it. */
  readonly name: string;
  /** Its place in `CellValues`. */
  readonly target: Path;
  readonly template: Template;
  /** Compiled once for all cells. */
  readonly compiled: ReturnType<typeof compileTemplate>;
  /** Whether the template has to be one expression that yields a number. */
  readonly isNumber: boolean;
  /** Whether the value may be known only when the cell is decided. */
  readonly mayBeLate: boolean;
  /** The value in the units of the model. The error continues a sentence that shows the value. */
  readonly read: (value: Json) => Result<number | string, string>;
}

const REMEMBERED = new WeakMap<CellTemplates, readonly CellKey[]>();

/** The expressions of a step, in the order in which they are evaluated. */
export function cellKeys(templates: CellTemplates): readonly CellKey[] {
  const known = REMEMBERED.get(templates) ?? createKeys(templates);
  REMEMBERED.set(templates, known);
  return known;
}

function createKeys({
  timeout,
  queueTimeout,
  deadline,
  priority,
  resources,
  retry = {},
  placement: { cluster: only, anyOf = [], ordered = [] } = {},
  pools = {},
}: CellTemplates): readonly CellKey[] {
  const { limit, infrastructure, backoff = {}, escalate = [] } = retry;
  return [
    ...keyOf(timeout, duration, { path: ['timeout'], target: ['timeoutMs'] }),
    ...keyOf(queueTimeout, duration, { path: ['queueTimeout'], target: ['queueTimeoutMs'] }),
    ...keyOf(deadline, duration, { path: ['deadline'], target: ['deadlineMs'] }),
    ...keyOf(priority, integer, { path: ['priority'] }),
    ...resourceKeys(resources, ['resources']),
    ...keyOf(limit, retries, { path: ['retry', 'limit'] }),
    ...keyOf(infrastructure, retries, { path: ['retry', 'infrastructure'] }),
    ...keyOf(backoff.initial, pause, {
      path: ['retry', 'backoff', 'initial'],
      target: ['retry', 'backoff', 'initialMs'],
    }),
    ...keyOf(backoff.factor, factor, { path: ['retry', 'backoff', 'factor'] }),
    ...keyOf(backoff.max, pause, { path: ['retry', 'backoff', 'max'], target: ['retry', 'backoff', 'maxMs'] }),
    ...escalate.flatMap((level, index) => resourceKeys(level, ['retry', 'escalate', index])),
    ...keyOf(only, cluster, { path: ['placement', 'cluster'] }),
    ...anyOf.flatMap((one, index) => keyOf(one, cluster, { path: ['placement', 'anyOf', index] })),
    ...ordered.flatMap((one, index) => keyOf(one, cluster, { path: ['placement', 'ordered', index] })),
    ...Object.entries(pools).flatMap(([name, amount]) => keyOf(amount, slots, { path: ['pools', name] })),
  ];
}

function resourceKeys({ cpu, memory, gpu, gpuModel, time }: ResourceTemplates = {}, at: Path): readonly CellKey[] {
  return [
    ...keyOf(cpu, cores, { path: [...at, 'cpu'] }),
    ...keyOf(memory, size, { path: [...at, 'memory'], target: [...at, 'memoryBytes'] }),
    ...keyOf(gpu, count, { path: [...at, 'gpu'] }),
    ...keyOf(gpuModel, text, { path: [...at, 'gpuModel'] }),
    ...keyOf(time, duration, { path: [...at, 'time'], target: [...at, 'timeMs'] }),
  ];
}

interface Kind {
  readonly isNumber: boolean;
  readonly read: CellKey['read'];
}

/**
 * What shares a queue is known from the beginning, and in which order. The clusters of a run are chosen when it begins, with
 * everything that it needs there.
 */
const BEFORE_THE_RUN: ReadonlySet<string | number> = new Set(['priority', 'pools', 'placement']);

function keyOf(
  template: Template | undefined,
  { isNumber, read }: Kind,
  { path, target = path }: { readonly path: Path; readonly target?: Path },
): readonly CellKey[] {
  if (template === undefined) return [];
  const name = path.map((key, at) => (typeof key === 'number' ? `[${key}]` : `${at === 0 ? '' : '.'}${key}`)).join('');
  const mayBeLate = !BEFORE_THE_RUN.has(path[0]!);
  return [{ path, name, target, template, compiled: compileTemplate(template), isNumber, mayBeLate, read }];
}

const integer = numberKind((value) => Number.isSafeInteger(value), 'which is not an integer');
const retries = numberKind(
  (value) => Number.isSafeInteger(value) && value >= 0 && value <= MAX_RETRIES,
  `which is not a number from 0 to ${MAX_RETRIES}`,
);
const count = numberKind((value) => Number.isSafeInteger(value) && value >= 0, 'which is not a number from 0');
const slots = numberKind((value) => Number.isSafeInteger(value) && value >= 1, 'which is not a number from 1');
const cores = numberKind((value) => value > 0, 'which is not a positive number');
const factor = numberKind((value) => value >= 1 && Number.isFinite(value), 'which is not a number from 1');

function numberKind(accepts: (value: number) => boolean, fault: string): Kind {
  return {
    isNumber: true,
    read: (value) => (typeof value === 'number' && accepts(value) ? ok(value) : fail(fault)),
  };
}

const text: Kind = { isNumber: false, read: (value) => ok(toText(value)) };

const cluster: Kind = {
  isNumber: false,
  read: (value) =>
    typeof value === 'string' && NAME.test(value) ? ok(value) : fail('which is not the name of a cluster'),
};

const size: Kind = {
  isNumber: false,
  read: (value) =>
    typeof value === 'string' && SIZE.test(value)
      ? ok(parseSize(value))
      : fail('which is not a size with its unit, for example 4GiB'),
};

const pause = durationKind(0);
const duration = durationKind(1);

function durationKind(least: number): Kind {
  return {
    isNumber: false,
    read(value) {
      if (typeof value !== 'string' || !DURATION.test(value))
        return fail('which is not a duration with its unit, for example 90s or 2h');
      const milliseconds = parseDuration(value);
      return milliseconds >= least ? ok(milliseconds) : fail('but must be greater than 0');
    },
  };
}
