import { type Doubles, FAILURE_CLASSES, NEED_CONDITIONS } from '@sluice/core';
import { countSteps, PLAN_FORMAT, type StepRange } from '@sluice/run';
import { z } from 'zod';
import {
  cellKey,
  count,
  time as duration,
  identifier,
  json,
  list,
  MAX_ITEMS,
  map,
  name,
  optional,
  serviceId,
  shortText,
  text,
  type,
  variable,
} from './handed-values.ts';

/** Attempts that one cell may have. */
const MAX_RETRIES = 100;
/** More retries than this need a pause between them. */
const MAX_HASTY = 10;
const SHORTEST_PAUSE_MS = 1000;
/** Of all labels together: each list of runs, each event of it and each container contains them. */
const MAX_LABEL_CHARACTERS = 16_384;

const attempts = z.int().min(0).max(MAX_RETRIES);
const condition = z.enum(NEED_CONDITIONS);
const labels = map(z.string().min(1).max(1024), text, 1000).refine(
  (all) =>
    Object.entries(all).reduce((sum, [key, value]) => sum + key.length + value.length, 0) <= MAX_LABEL_CHARACTERS,
  `must have at most ${MAX_LABEL_CHARACTERS} characters`,
);
const env = map(variable, text);
const secrets = list(variable, 1000);
const pools = map(name, count, 100);

const placement = z.strictObject({
  cluster: optional(serviceId),
  anyOf: optional(list(serviceId, 100)),
  ordered: optional(list(serviceId, 100)),
});

const resources = z.strictObject({
  cpu: optional(z.number().min(0).max(1e6)),
  memoryBytes: optional(z.number().min(0).max(Number.MAX_SAFE_INTEGER)),
  gpu: optional(count),
  gpuModel: optional(shortText),
});

const retry = z
  .strictObject({
    limit: attempts,
    on: list(z.enum(FAILURE_CLASSES), 10),
    exitCodes: optional(list(z.int().min(0).max(255), 256)),
    backoff: z.strictObject({ initialMs: duration, factor: z.number().min(1).max(1000), maxMs: duration }),
    escalate: list(z.union([text, resources]), MAX_RETRIES),
    infrastructure: attempts,
  })
  .refine(
    ({ limit, backoff }) => limit <= MAX_HASTY || Math.min(backoff.initialMs, backoff.maxMs) >= SHORTEST_PAUSE_MS,
    `more than ${MAX_HASTY} retries need a \`backoff\` of at least ${SHORTEST_PAUSE_MS / 1000}s`,
  );

const source = z.strictObject({ step: name, output: identifier, path: optional(text) });
const input = z.strictObject({
  from: z.union([source, z.strictObject({ volume: name, path: text })]),
  path: text,
  writable: optional(z.literal(true)),
});
/** As `FILE_PATTERN`: all patterns of an output are in memory while its files are listed. */
const pattern = z.string().max(200);
const output = z.strictObject({ path: text, retain: z.boolean(), expect: optional(list(pattern, 100)) });
const axes = map(identifier, json, 100);

const ready = z.union([
  z.strictObject({ port: name, path: text, timeoutMs: optional(duration) }),
  z.strictObject({ command: list(text), timeoutMs: optional(duration) }),
]);

const step = z.strictObject({
  name,
  description: optional(text),
  image: optional(text),
  command: optional(list(text)),
  env,
  secrets,
  inputs: map(identifier, input),
  outputs: map(identifier, output, 1000),
  results: map(identifier, z.strictObject({ type, file: shortText }), 1000),
  needs: list(z.union([name, z.strictObject({ step: name, condition })])),
  when: optional(text),
  matrix: optional(z.strictObject({ axes, include: list(axes), exclude: list(axes) })),
  foreach: optional(z.union([text, list(json, MAX_ITEMS)])),
  foreachKey: optional(text),
  parallelism: optional(count),
  instanceType: optional(text),
  resources: optional(resources),
  placement: optional(placement),
  pools,
  priority: z.int().min(-1e9).max(1e9),
  retry,
  timeoutMs: optional(duration),
  queueTimeoutMs: optional(duration),
  deadlineMs: optional(duration),
  continueOnError: z.boolean(),
  cache: optional(z.strictObject({ key: optional(text), maxAgeMs: optional(duration), ignore: list(shortText, 1000) })),
  ports: map(name, z.strictObject({ https: z.boolean() }), 100),
  service: optional(z.strictObject({ ready: optional(ready) })),
  approval: optional(z.strictObject({ message: optional(text), timeoutMs: optional(duration) })),
});

/** As `Doubles`. */
const doubles: z.ZodType<Doubles> = z.lazy(() =>
  z.strictObject({
    number: optional(z.literal(true)),
    items: optional(doubles),
    keys: optional(z.record(z.string(), doubles)),
  }),
);

const param = z.strictObject({
  type,
  default: optional(json),
  doubles: optional(doubles),
  enum: optional(list(json)),
  pattern: optional(text),
  minimum: optional(z.number()),
  maximum: optional(z.number()),
  required: z.boolean(),
  description: optional(text),
});

const schedule = z.strictObject({
  cron: list(shortText, 100),
  timezone: shortText,
  overlap: z.enum(['allow', 'skip', 'queue', 'replace']),
  catchup: z.enum(['none', 'latest', 'all']),
  startingDeadlineMs: optional(duration),
});

const notify = z.strictObject({
  on: list(z.enum(['succeeded', 'failed', 'canceled']), 3),
  webhook: optional(text),
  // Refused with a message of its own.
  command: optional(list(text)),
});

const pipeline = z.strictObject({
  version: z.literal(1),
  name: name.max(63),
  description: optional(text),
  labels,
  params: map(identifier, param),
  bound: optional(map(identifier, z.strictObject({ value: json, doubles: optional(doubles) }), MAX_ITEMS)),
  env,
  secrets,
  volumes: map(name, z.strictObject({ id: optional(serviceId), source: optional(text), retain: z.boolean() }), 1000),
  steps: list(step, MAX_ITEMS),
  finally: list(step, MAX_ITEMS),
  outputs: map(identifier, z.strictObject({ from: source, publish: optional(text) }), 1000),
  results: optional(map(identifier, z.strictObject({ step: name, result: identifier }), 1000)),
  parallelism: optional(count),
  failFast: z.boolean(),
  timeoutMs: optional(duration),
  concurrency: optional(
    z.strictObject({ group: text, limit: count.min(1), overlap: z.enum(['queue', 'replace', 'fail']) }),
  ),
  pools,
  placement: optional(placement),
  schedule: optional(schedule),
  notify: list(notify, 100),
});

/** Of a step that a plan or a record has: as `Cell`. */
export const handedCell = z.strictObject({
  key: cellKey,
  matrix: axes,
  item: optional(json),
  // Only looked up by the keys of the values, so any form is safe.
  doubles: optional(z.strictObject({ matrix: optional(json), item: optional(json) })),
});

/**
 * Dependencies of all steps together: about as many as the largest file could list one by one. As ranges, a few bytes
 * can stand for many.
 */
const MAX_DEPENDENCIES = 200_000;

/** Checked by hand: the largest file may contain a million of them. */
function areRanges(value: unknown): boolean {
  const isIndex = (one: unknown) => typeof one === 'number' && Number.isInteger(one) && one >= 0 && one < MAX_ITEMS;
  const isRange = (one: unknown) =>
    isIndex(one) || (Array.isArray(one) && one.length === 2 && one.every(isIndex) && one[0] < one[1]);
  return Array.isArray(value) && value.every(isRange);
}

const dependencies = z.strictObject({
  on: z.custom<readonly StepRange[]>(areRanges, 'must be a list of indexes and ranges'),
  condition: optional(condition),
  data: optional(z.literal(true)),
});

/** All of a stored plan of the present format. */
export const handedPlanSchema = z.strictObject({
  format: z.literal(PLAN_FORMAT),
  pipeline,
  params: map(identifier, json),
  paramDoubles: optional(map(identifier, doubles)),
  steps: list(
    z.strictObject({
      dependencies: list(dependencies, 10),
      cells: optional(list(handedCell, MAX_ITEMS).min(1)),
    }),
    MAX_ITEMS,
  ).refine(
    (all) => all.reduce((sum, one) => sum + countAll(one.dependencies), 0) <= MAX_DEPENDENCIES,
    `must have at most ${MAX_DEPENDENCIES} dependencies`,
  ),
});

function countAll(groups: readonly { readonly on: readonly StepRange[] }[]): number {
  return groups.reduce((sum, { on }) => sum + countSteps(on), 0);
}
