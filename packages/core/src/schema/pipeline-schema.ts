import { z } from 'zod';
import { MAX_PATTERNS } from '../model/find-pattern-fault.ts';
import { COLUMN_TYPES } from '../tables/column-type.ts';
import { AXIS_FIELD, IDENTIFIER, NAME, SOURCE_FILES, STEP_OUTPUT, STEP_RESULT } from './patterns.ts';
import {
  command,
  duration,
  env,
  identifiers,
  json,
  placement,
  pools,
  secrets,
  stepSchema,
  text,
  valueType,
  word,
} from './step-schema.ts';

const name = word.regex(NAME);
const flag = z.boolean({ error: 'true or false' });
const positive = z.int({ error: 'an integer' }).min(1);
const bound = z.number({ error: 'a number' }).optional();

/** The long form of a parameter. A nonempty map without any of these keys is a default, in the short form. */
export const paramSchema = z.strictObject(
  {
    type: valueType.optional(),
    default: json.optional(),
    columns: z
      .record(text, z.enum(COLUMN_TYPES, { error: `one of ${COLUMN_TYPES.join(', ')}` }), {
        error: 'a map of columns to types',
      })
      .optional(),
    enum: z.array(json, { error: 'a list of values' }).min(1).optional(),
    pattern: text.optional(),
    minimum: bound,
    maximum: bound,
    required: flag.optional(),
    description: text.optional(),
  },
  { error: 'a map of parameter keys' },
);

const source = z.union(
  [
    text,
    z.strictObject({
      path: text,
      exclude: z.array(text, { error: 'a list of patterns' }).max(MAX_PATTERNS).optional(),
    }),
  ],
  { error: 'a path, or a map with `path` and `exclude`' },
);

const volume = z.strictObject(
  { id: name.optional(), source: source.optional(), retain: flag.optional(), each: identifiers.optional() },
  { error: 'a map with `id` or `source`, or an empty map' },
);

const axisItems = z.union([text, z.array(json)], { error: 'a list, or an expression that yields one' });
const listedItems = z.union([text, z.array(json), z.strictObject({ files: word.regex(SOURCE_FILES) })], {
  error: 'a list, an expression that yields one, or a map with `files`',
});
const axis = z.union(
  [
    axisItems,
    z.strictObject({
      items: listedItems,
      key: text.optional(),
      of: z.record(word.regex(IDENTIFIER), text, { error: 'a map of axes to fields' }).optional(),
      parallelism: positive.optional(),
    }),
    z.strictObject({ distinct: word.regex(AXIS_FIELD), parallelism: positive.optional() }),
  ],
  {
    error:
      'a list, an expression that yields one, a map with `items`, `key`, `of` and `parallelism`, or one with `distinct` and `parallelism`',
  },
);

const pipelineOutput = z.union(
  [word.regex(STEP_OUTPUT), z.strictObject({ from: word.regex(STEP_OUTPUT), publish: text.optional() })],
  { error: '`step.output`, or a map with `from` and `publish`' },
);

const concurrency = z.union(
  [
    text,
    z.strictObject({
      group: text.optional(),
      limit: positive.optional(),
      overlap: z.enum(['queue', 'replace', 'fail'], { error: 'one of queue, replace, fail' }).optional(),
    }),
  ],
  { error: 'a group name, or a map with `group`, `limit` and `overlap`' },
);

const schedule = z.strictObject(
  {
    cron: z.union([text, z.array(text).min(1)], { error: 'a cron expression, or a list of them' }),
    timezone: text.optional(),
    overlap: z.enum(['allow', 'skip', 'queue', 'replace'], { error: 'one of allow, skip, queue, replace' }).optional(),
    catchup: z.enum(['none', 'latest', 'all'], { error: 'one of none, latest, all' }).optional(),
    startingDeadline: duration.optional(),
  },
  { error: 'a map with `cron`' },
);

const outcome = z.enum(['succeeded', 'failed', 'canceled'], { error: 'one of succeeded, failed, canceled' });
const notify = z.strictObject(
  {
    on: z.array(outcome, { error: 'a list of outcomes' }).min(1),
    webhook: text.optional(),
    command: command.optional(),
  },
  { error: 'a map with `on` and `webhook` or `command`' },
);

const steps = z.record(name, stepSchema, { error: 'a map of steps' });
const { uses: _uses, with: _with, ...defaultable } = stepSchema.shape;

/** The shape of a pipeline file. `params` is checked value by value, because its short form is any value. */
export const pipelineSchema = z.strictObject(
  {
    $schema: text.optional(),
    version: z.literal(1, { error: 'the number 1' }),
    name: name.max(63),
    description: text.optional(),
    labels: z.record(text, text, { error: 'a map of strings' }).optional(),
    params: z.record(word.regex(IDENTIFIER), json, { error: 'a map of parameters' }).optional(),
    env: env.optional(),
    secrets: secrets.optional(),
    defaults: z.strictObject(defaultable, { error: 'a map of step keys' }).optional(),
    volumes: z.record(name, volume, { error: 'a map of volumes' }).optional(),
    axes: z.record(word.regex(IDENTIFIER), axis, { error: 'a map of axes' }).optional(),
    steps: steps.optional(),
    finally: steps.optional(),
    outputs: z.record(word.regex(IDENTIFIER), pipelineOutput, { error: 'a map of outputs' }).optional(),
    results: z
      .record(word.regex(IDENTIFIER), z.string({ error: '`step.result`' }).regex(STEP_RESULT), {
        error: 'a map of names to results of steps',
      })
      .optional(),
    parallelism: positive.optional(),
    failFast: flag.optional(),
    timeout: duration.optional(),
    concurrency: concurrency.optional(),
    pools: pools.optional(),
    placement: placement.optional(),
    schedule: schedule.optional(),
    notify: z.union([notify, z.array(notify)], { error: 'a notification, or a list of them' }).optional(),
    include: z.union([text, z.array(text)], { error: 'a path, or a list of paths' }).optional(),
  },
  { error: 'a map of pipeline keys, beginning with `version: 1`' },
);

/** A pipeline file with a valid shape, short forms included. */
export type RawPipeline = z.infer<typeof pipelineSchema>;
