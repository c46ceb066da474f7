import { describeUnknown, guardArguments, isObject, SluiceError } from '@sluice/core';
import { z } from 'zod';
import type { OpenedService } from '../connect/opened-service.ts';

const isFunction = (value: unknown) => typeof value === 'function';
/** A name or a path. */
export const TEXT = z.string().min(1);
const home = TEXT.optional();
const service = z
  .custom<OpenedService>((value) => isObject(value) && isObject(value.service) && isFunction(value.close), {
    error: 'expected what openService, openEmbeddedService or connectService has returned',
  })
  .optional();

const profile = TEXT.optional();

const following = {
  home,
  profile,
  service,
  signal: z
    .custom<AbortSignal>((value) => isObject(value) && isFunction(value.addEventListener), {
      error: 'expected an AbortSignal',
    })
    .optional(),
  onEvent: z.custom<() => void>(isFunction, { error: 'expected a function' }).optional(),
};
const secrets = z.record(z.string(), z.string()).optional();
const start = {
  params: z.record(z.string(), z.unknown()).optional(),
  paramsFile: TEXT.optional(),
  parallelism: z.int().min(1).optional(),
  baseDir: TEXT.optional(),
  reuseFrom: TEXT.optional(),
};

/** The options of each function of the library, for callers without types. Other keys are errors. */
export const OPTIONS = {
  home: z.strictObject({ home }),
  load: z.strictObject({ root: TEXT.optional() }),
  resume: z.strictObject({ ...following, secrets, pipeline: z.unknown().optional() }),
  run: z.strictObject({ ...following, secrets, ...start }),
  attach: z.strictObject({ ...following, pipeline: z.unknown().optional() }),
  submit: z.strictObject({ home, profile, service, secrets, ...start }),
  plan: z.strictObject({
    params: z.record(z.string(), z.unknown()).optional(),
    files: z.record(TEXT, z.array(TEXT)).optional(),
  }),
  table: z.strictObject({ columns: z.record(TEXT, z.enum(['string', 'integer', 'number', 'boolean'])).optional() }),
  report: z.strictObject({ home, to: TEXT.optional() }),
  answer: z.strictObject({ by: z.string().optional() }),
  change: z.strictObject({ home, profile, service, by: z.string().optional() }),
  delete: z.strictObject({ home, profile, service }),
  pull: z.strictObject({ home, profile, to: TEXT, service }),
  service: z.strictObject({ home, profile, cluster: TEXT.optional(), account: TEXT.optional() }),
  open: z.strictObject({ home, cpu: z.number().positive().optional() }),
  connect: z
    .looseObject({
      baseUrl: TEXT,
      scope: z.object({ clusterID: z.string(), accountID: z.string() }).optional(),
      token: TEXT.optional(),
      login: z.object({ email: z.string(), password: z.string() }).optional(),
    })
    .refine(({ token, login }) => (token === undefined) !== (login === undefined), {
      error: 'expected a token or a login',
    }),
  source: z.strictObject({
    text: z.string(),
    file: z.string(),
    read: z.custom<() => unknown>(isFunction, { error: 'expected a function' }).optional(),
  }),
} as const;

/**
 * An argument of the public function `name`, read once and checked. Undefined values count as absent. Throws `SluiceError`
 * `INVALID_ARGUMENT`, also if reading it throws.
 */
export function readArgument<T>(name: string, schema: z.ZodType, argument: T): T {
  const read = guardArguments(name, () => schema.safeParse(argument));
  if (!read.success) {
    const issue = read.error.issues[0]!;
    const known = schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
    const message =
      issue.code === 'unrecognized_keys' && issue.path.length === 0
        ? `there is no option ${describeUnknown(issue.keys[0]!, known)}`
        : issue.message;
    throw new SluiceError('INVALID_ARGUMENT', `${[name, ...issue.path].join(': ')}: ${message}`);
  }
  if (!isObject(read.data)) return read.data as T;
  return Object.fromEntries(Object.entries(read.data).filter(([, value]) => value !== undefined)) as T;
}
