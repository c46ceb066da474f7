import { type ContainerSpec, identifierSchema } from '@sluice/client';
import { z } from 'zod';
import { parseBody, refuseField } from '../protocol/parse-body.ts';
import { mountPointSchema } from './mount-point-schema.ts';

/** A fan-in of every cell that a step can have in practice. */
const MAX_MOUNTS = 10_000;

const text = (max: number) =>
  z
    .string()
    .max(max)
    .refine((value) => !value.includes('\0'), 'must not hold a NUL');
const bounded = <T extends z.ZodType>(record: z.ZodRecord<z.ZodString, T>, max: number) =>
  record.refine((value) => Object.keys(value).length <= max, `must have at most ${max} entries`);
/** Whether there can be such an image the cluster's engine decides. What begins with a dash, runtimes take for an option. */
const image = z
  .string()
  .min(1)
  .max(1024)
  .refine((name) => !/^[\s-]|\p{Cc}/u.test(name), 'must not begin with - or a blank, nor hold a control character');

/** The bounds are far above use and far below harm; one argument is bounded by the kernel at 128 KiB. */
export const containerSpecSchema = z.strictObject({
  instanceType: z.string().min(1).max(63),
  image: image.optional(),
  command: z.array(text(131_071)).max(10_000).optional(),
  ports: bounded(z.record(z.string(), z.strictObject({ https: z.strictObject({}).optional() })), 100).optional(),
  volumeMounts: bounded(z.record(z.string(), mountPointSchema), MAX_MOUNTS).optional(),
  labels: bounded(z.record(z.string(), text(65_536)), 100).optional(),
  envs: bounded(z.record(z.string(), text(131_000)), 1000).optional(),
});

/** Reads what a client sent to create a container; every fault names its field. */
export function parseContainerSpec(input: unknown): ContainerSpec {
  const spec = parseBody(containerSpecSchema, input);
  for (const name of Object.keys(spec.ports ?? {})) {
    if (!identifierSchema.safeParse(name).success || name === '-') {
      refuseField(`ports.${name}`, 'is not a port name (1 to 63 of a-z, 0-9 and -)');
    }
  }
  for (const name of Object.keys(spec.envs ?? {})) {
    if (name === '' || /[=\0]/.test(name)) refuseField(`envs.${name}`, 'is not a name of an environment variable');
  }
  // zod's optional properties allow undefined, which JSON has not and in-process callers mean as absent.
  return Object.fromEntries(Object.entries(spec).filter(([, value]) => value !== undefined)) as ContainerSpec & object;
}
