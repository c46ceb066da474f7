import { z } from 'zod';
import { MAX_TASKS } from '../model/max-tasks.ts';
import { NEED_CONDITIONS } from '../model/pipeline.ts';
import { MAX_ESCALATIONS, MAX_RETRIES } from '../model/retry-limits.ts';
import { dockerOptions, slurmOptions } from './engine-options-schema.ts';
import {
  CELL_DURATION,
  CELL_NAME,
  CELL_SIZE,
  DURATION,
  EDGE,
  EXPRESSION,
  FILE_PATTERN,
  IDENTIFIER,
  IMAGE,
  MODULE,
  MOUNT_POINT,
  NAME,
  PERCENTAGE,
  PLAIN_PATH,
  RESULT_FILE,
  STEP_OUTPUT,
  TEXT,
  VARIABLE,
} from './patterns.ts';

/**
 * A string. The schemas of this file describe the shape of a step in a file, in short and long forms; the meaning of
 * names is for the checks. The `error` texts are inserted into a sentence by `checkShape`.
 */
export const word = z.string({ error: 'a string' });
/** A string that can be passed to a program. */
export const text = word.regex(TEXT);
/** A duration with its unit, not converted to milliseconds. */
export const duration = z.string({ error: 'a duration with its unit, for example 90s, 15m, 2h or 1d' }).regex(DURATION);
const cellDuration = z
  .string({ error: 'a duration with its unit, for example 90s, 15m, 2h or 1d' })
  .regex(CELL_DURATION);
const cellExpression = z.string().regex(EXPRESSION);
const flag = z.boolean({ error: 'true or false' });
const count = z.int({ error: 'an integer' }).min(0);
const cellCount = z.union([count, cellExpression], { error: 'an integer' });
const positive = z.int({ error: 'an integer' }).min(1);
const taskCount = z.int({ error: 'an integer' }).min(1).max(MAX_TASKS);
const name = word.regex(NAME);
const mountPoint = z.string({ error: 'an absolute path' }).regex(MOUNT_POINT);
/** Any JSON value. */
export const json: z.ZodType<unknown> = z.json();

/** Environment variables, by name. */
export const env = z.record(word.regex(VARIABLE), text, { error: 'a map of variable names to strings' });
/** Names of secrets. */
export const secrets = z.array(word.regex(VARIABLE), { error: 'a list of secret names' });
/** The argv, or one string for the shell. */
export const command = z.union([z.array(text), text], { error: 'a list of strings, or one string for the shell' });
/** Slots by pool. */
export const pools = z.record(name, positive, { error: 'a map of pool names to numbers of slots' });
const cellPools = z.record(name, z.union([positive, cellExpression], { error: 'an integer' }), {
  error: 'a map of pool names to numbers of slots',
});

/** `checkPlacement` requires that exactly one key is set. */
export const placement = placementOf(name);

function placementOf(cluster: typeof name) {
  const clusters = z.array(cluster).min(1);
  return z.strictObject(
    { cluster: cluster.optional(), anyOf: clusters.optional(), ordered: clusters.optional() },
    { error: 'a map with `cluster`, `anyOf` or `ordered`' },
  );
}

/** One name, or several. */
export const identifiers = z.union([word.regex(IDENTIFIER), z.array(word.regex(IDENTIFIER)).min(1)], {
  error: 'the name of an axis, or a list of them',
});
const sources = z.union([word.regex(EDGE), z.array(word.regex(STEP_OUTPUT)).min(1)], {
  error: '`step.output`, `volumes.name`, or a list of `step.output`',
});
/** A key of an axis, or several. Numbers and booleans stand for the text of the same form. */
const itemKeys = z.union([text, z.number(), flag, z.array(z.union([text, z.number(), flag]))], {
  error: 'a key, or a list of keys',
});

const input = z.union(
  [
    word.regex(EDGE),
    z.array(word.regex(STEP_OUTPUT)).min(1),
    z.strictObject({
      from: sources,
      path: mountPoint.optional(),
      writable: flag.optional(),
      where: z.record(word.regex(IDENTIFIER), itemKeys, { error: 'a map of axes to keys' }).optional(),
      all: identifiers.optional(),
      optional: flag.optional(),
    }),
  ],
  {
    error:
      '`step.output`, `volumes.name`, a list of `step.output`, or a map with `from`, `path`, `writable`, `where`, `all` or `optional`',
  },
);

const output = z.union(
  [
    mountPoint,
    z.strictObject({
      path: mountPoint.optional(),
      retain: flag.optional(),
      temporary: flag.optional(),
      expect: z
        .array(word.regex(FILE_PATTERN), { error: 'a list of file patterns, for example `["*.bin"]`' })
        .min(1)
        .optional(),
    }),
  ],
  { error: 'an absolute path, or a map with `path`, `retain`, `temporary` or `expect`' },
);

const TYPES = ['string', 'integer', 'number', 'boolean', 'array', 'object'] as const;
/** Any `JsonType`. */
export const valueType = z.enum(TYPES, { error: `one of ${TYPES.join(', ')}` });
const result = z.union([valueType, z.strictObject({ type: valueType, file: word.regex(RESULT_FILE).optional() })], {
  error: `one of ${TYPES.join(', ')}, or a map with \`type\` and \`file\``,
});

const needs = z.union(
  [name, z.array(name), z.record(name, z.enum(NEED_CONDITIONS, { error: `one of ${NEED_CONDITIONS.join(', ')}` }))],
  {
    error: 'a step, a list of steps, or a map of steps to conditions',
  },
);

const cell = z.record(word.regex(IDENTIFIER), json, { error: 'a map of axis names to values' });
const axis = z.union([z.array(json).min(1), text], { error: 'a list of values, or an expression that yields one' });
const matrix = z
  .object(
    {
      include: z.array(cell, { error: 'a list of maps' }).optional(),
      exclude: z.array(cell, { error: 'a list of maps' }).optional(),
    },
    { error: 'a map of axes to lists of values' },
  )
  .catchall(axis);

const resources = z.strictObject(
  {
    cpu: z.union([z.number().positive(), cellExpression], { error: 'a number of cores' }).optional(),
    memory: z.string({ error: 'a size with its unit, for example 512MB or 4GiB' }).regex(CELL_SIZE).optional(),
    gpu: cellCount.optional(),
    gpuModel: text.optional(),
    time: cellDuration.optional(),
  },
  { error: 'a map with `cpu`, `memory`, `gpu`, `gpuModel` or `time`' },
);

const CLASSES = ['failed', 'oom', 'timeout'] as const;
const backoff = z.strictObject(
  {
    initial: cellDuration.optional(),
    factor: z.union([z.number().min(1), cellExpression], { error: 'a number from 1' }).optional(),
    max: cellDuration.optional(),
  },
  { error: 'a map with `initial`, `factor` and `max`' },
);
const retries = count.max(MAX_RETRIES);
const cellRetries = z.union([retries, cellExpression], { error: 'an integer' });
const retry = z.union(
  [
    retries,
    cellExpression,
    z.strictObject({
      limit: cellRetries.optional(),
      on: z
        .array(z.enum(CLASSES, { error: `one of ${CLASSES.join(', ')}` }))
        .min(1)
        .optional(),
      exitCodes: z
        .array(z.int({ error: 'an integer' }).min(0).max(255))
        .min(1)
        .optional(),
      backoff: backoff.optional(),
      escalate: z
        .array(z.union([text, resources], { error: 'an instance type, or a map of resources' }))
        .max(MAX_ESCALATIONS)
        .optional(),
      infrastructure: cellRetries.optional(),
    }),
  ],
  {
    error:
      'a number of extra attempts, or a map with `limit`, `on`, `exitCodes`, `backoff`, `escalate` or `infrastructure`',
  },
);

const tolerance = z.union([flag, count, z.string().regex(PERCENTAGE)], {
  error: 'true, false, a number of cells, or a percentage of them, for example 5%',
});

const cache = z.union(
  [flag, z.strictObject({ key: text.optional(), maxAge: duration.optional(), ignore: z.array(text).optional() })],
  { error: 'true, false, or a map with `key`, `maxAge` or `ignore`' },
);

const port = z.strictObject({ https: z.strictObject({}).optional() }, { error: 'a map, for example `{ https: {} }`' });

const ready = z.union(
  [
    z.strictObject({ port: name, path: text.optional(), timeout: duration.optional() }),
    z.strictObject({ command, timeout: duration.optional() }),
  ],
  { error: 'a map with `port`, `path` and `timeout`, or with `command` and `timeout`' },
);
const service = z.union([flag, z.strictObject({ ready: ready.optional() })], { error: 'true, or a map with `ready`' });
const approval = z.union([flag, text, z.strictObject({ message: text.optional(), timeout: duration.optional() })], {
  error: 'a message, or a map with `message` and `timeout`',
});

const items = z.union([text, z.array(json)], { error: 'a list, or an expression that yields one' });
const foreach = z.union([items, z.strictObject({ items, key: text.optional() })], {
  error: 'a list, an expression that yields one, or a map with `items` and `key`',
});

const requirementsFile = z.string({ error: 'the path of a file' }).regex(PLAIN_PATH);

/** The shape of one step. Which keys exclude each other is for the checks. */
export const stepSchema = z.strictObject(
  {
    description: text.optional(),
    image: text.regex(IMAGE).optional(),
    command: command.optional(),
    script: text.optional(),
    shell: command.optional(),
    modules: z
      .union([z.array(word.regex(MODULE)).min(1).max(100), word.regex(MODULE)], {
        error: 'a list of environment modules',
      })
      .optional(),
    venv: requirementsFile.optional(),
    conda: requirementsFile.optional(),
    env: env.optional(),
    secrets: secrets.optional(),
    inputs: z.record(word.regex(IDENTIFIER), input, { error: 'a map of names to edges' }).optional(),
    outputs: z
      .union([z.array(word.regex(IDENTIFIER)), z.record(word.regex(IDENTIFIER), output)], {
        error: 'a list of names, or a map of names to paths',
      })
      .optional(),
    results: z.record(word.regex(IDENTIFIER), result, { error: 'a map of names to types' }).optional(),
    needs: needs.optional(),
    when: z.union([text, flag], { error: 'an expression' }).optional(),
    each: identifiers.optional(),
    matrix: matrix.optional(),
    foreach: foreach.optional(),
    parallelism: positive.optional(),
    instanceType: text.optional(),
    resources: resources.optional(),
    nodes: taskCount.optional(),
    tasksPerNode: taskCount.optional(),
    docker: dockerOptions.optional(),
    slurm: slurmOptions.optional(),
    placement: placementOf(word.regex(CELL_NAME)).optional(),
    pools: cellPools.optional(),
    priority: z.union([z.int(), cellExpression], { error: 'an integer' }).optional(),
    retry: retry.optional(),
    timeout: cellDuration.optional(),
    queueTimeout: cellDuration.optional(),
    deadline: cellDuration.optional(),
    continueOnError: tolerance.optional(),
    cache: cache.optional(),
    ports: z.record(name, port, { error: 'a map of port names' }).optional(),
    service: service.optional(),
    approval: approval.optional(),
    uses: z.string({ error: 'the path of a file' }).regex(TEXT).optional(),
    with: z.record(word.regex(IDENTIFIER), json, { error: 'a map of parameters to values' }).optional(),
  },
  { error: 'a map of step keys' },
);

/** A step with a valid shape, short forms included. */
export type RawStep = z.infer<typeof stepSchema>;
