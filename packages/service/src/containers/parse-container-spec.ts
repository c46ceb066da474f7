import { type ContainerSpec, identifierSchema } from '@sluice/client';
import { z } from 'zod';
import { parseBody, rejectField } from '../protocol/parse-body.ts';
import { normalizeTarget } from './normalize-target.ts';

/** Enough for one mount per cell of the largest practical fan-in. */
const MAX_MOUNTS = 10_000;
/** The kernel's limits for a path and for each name in it, in bytes. */
const MAX_PATH_BYTES = 4095;
const MAX_NAME_BYTES = 255;
/** Paths that the engines mount themselves. `/.sluice` contains the program that starts the command. */
const RESERVED = ['/proc', '/sys', '/dev', '/.sluice'];

const text = (max: number) =>
  z
    .string()
    .max(max)
    .refine((value) => !value.includes('\0'), 'must not contain a NUL');
const bounded = <T extends z.ZodType>(record: z.ZodRecord<z.ZodString, T>, max: number) =>
  record.refine((value) => Object.keys(value).length <= max, `must have at most ${max} entries`);
/** The cluster's engine checks the rest of the syntax. Runtimes would treat a name that begins with a dash as an option. */
const image = z
  .string()
  .min(1)
  .max(1024)
  .refine((name) => !/^[\s-]|\p{Cc}/u.test(name), 'must not begin with - or a blank, or contain a control character');

/** A path in a container at which a volume can be mounted, with every engine. */
const mountPointSchema = z.string().superRefine((path, context) => {
  const fault = mountPointFault(path);
  if (fault !== undefined) context.addIssue({ code: 'custom', message: fault });
});

/** The limits are far above normal use and far below what harms the service. The kernel limits one argument to 128 KiB. */
export const containerSpecSchema = z.strictObject({
  instanceType: z.string().min(1).max(63),
  image: image.optional(),
  command: z.array(text(131_071)).max(10_000).optional(),
  ports: bounded(z.record(z.string(), z.strictObject({ https: z.strictObject({}).optional() })), 100).optional(),
  volumeMounts: bounded(z.record(z.string(), mountPointSchema), MAX_MOUNTS).optional(),
  labels: bounded(z.record(z.string(), text(65_536)), 100).optional(),
  envs: bounded(z.record(z.string(), text(131_000)), 1000).optional(),
});

/** Parses a client's container spec. Errors name the invalid field. */
export function parseContainerSpec(input: unknown): ContainerSpec {
  const spec = parseBody(containerSpecSchema, input);
  for (const name of Object.keys(spec.ports ?? {})) {
    if (!identifierSchema.safeParse(name).success || name === '-') {
      rejectField(`ports.${name}`, 'is not a port name (1 to 63 of a-z, 0-9 and -)');
    }
  }
  for (const name of Object.keys(spec.envs ?? {})) {
    if (name === '' || /[=\0]/.test(name)) rejectField(`envs.${name}`, 'is not a name of an environment variable');
  }
  // zod's optional properties allow undefined, which in-process callers may pass for an absent field.
  return Object.fromEntries(Object.entries(spec).filter(([, value]) => value !== undefined)) as ContainerSpec & object;
}

/** Why a volume cannot be mounted at `path`; undefined if it can. */
function mountPointFault(path: string): string | undefined {
  if (!path.startsWith('/')) return 'must be an absolute path';
  // Control characters would break the line-based input of engines and runtimes.
  if (/\p{Cc}/u.test(path)) return 'must not contain a control character';
  const names = path.split('/');
  if (names.some((name) => name === '.' || name === '..')) return "must have no segment '.' or '..'";
  const point = normalizeTarget(path);
  if (point === '/') return 'must not be the root directory';
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) return `must not be longer than ${MAX_PATH_BYTES} bytes`;
  if (names.some((name) => Buffer.byteLength(name) > MAX_NAME_BYTES)) {
    return `must have no segment of more than ${MAX_NAME_BYTES} bytes`;
  }
  const taken = RESERVED.find((place) => point === place || point.startsWith(`${place}/`));
  return taken === undefined ? undefined : `must not be in ${taken}, which belongs to the system`;
}
