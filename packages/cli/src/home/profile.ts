import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { describeIssue } from '@sluice/client';
import { durationSchema, fail, ok, parseDuration, type Result } from '@sluice/core';
import { ENGINE_NAMES } from '@sluice/run';
import { parse } from 'yaml';
import { z } from 'zod';
import type { CommandError } from '../context/command-rejection.ts';
import { EXIT_CODE } from '../context/exit-code.ts';

const settings = z.strictObject({
  /** Only in `profile.yaml` of a home, and alone: the name of a profile of the user, which applies instead. */
  use: z
    .string()
    .regex(/^[^/]+$/, 'must be the name of one of your profiles')
    .optional(),
  service: z.url().optional(),
  /** The engine of the embedded service, which is then used, and its options, which the service checks. */
  engine: z.enum(ENGINE_NAMES, `must be ${ENGINE_NAMES.join(' or ')}`).optional(),
  options: z.record(z.string(), z.unknown()).optional(),
  authUrl: z.url().optional(),
  account: z.string().optional(),
  cluster: z.string().optional(),
  tokenHeader: z.string().optional(),
  /** Files, so that the profile contains no credentials. Relative paths are resolved against the profile. */
  caFile: z.string().optional(),
  tokenFile: z.string().optional(),
  email: z.string().optional(),
  passwordFile: z.string().optional(),
  /** The collector that receives the runs as traces. */
  otlp: z.url().optional(),
  /** Most containers of one run at once, by cluster and by instance type, and other limits of the service. */
  limits: z
    .strictObject({
      clusters: z.record(z.string(), z.int().min(0)).exactOptional(),
      instanceTypes: z.record(z.string(), z.int().min(0)).exactOptional(),
      /** Most mounts of one container. */
      mounts: z.int().min(1).exactOptional(),
      /** A container that the service has not listed for this long counts as lost. */
      lostAfter: durationSchema().exactOptional(),
    })
    .transform(({ lostAfter, ...limits }) => ({
      ...limits,
      ...(lostAfter !== undefined && { lostAfterMs: parseDuration(lostAfter) }),
    }))
    .optional(),
});

/** What can stand beside `engine`: the embedded service has no login. */
const WITH_ENGINE: ReadonlySet<string> = new Set(['engine', 'options', 'limits', 'otlp']);

/** A profile as it is written. */
export const profileSchema = settings
  .refine(
    (profile) => profile.use === undefined || Object.keys(profile).length === 1,
    '`use` names another profile, so there can be no other settings',
  )
  .superRefine(({ engine, ...profile }, context) => {
    const others = Object.keys(profile).filter((key) => !WITH_ENGINE.has(key));
    const message =
      '`engine` is of the embedded service, which has no login: remove `engine`, or ' +
      others.map((key) => `\`${key}\``).join(', ');
    if (engine !== undefined && others.length > 0) context.addIssue({ code: 'custom', message });
    if (profile.options !== undefined && (engine === undefined || engine === 'local'))
      context.addIssue({ code: 'custom', path: ['options'], message: 'needs `engine: slurm` or `engine: slurm-job`' });
  });

/** Settings of a site, which belong to no pipeline: service, account, credentials, engine, limits. */
export type Profile = z.infer<typeof profileSchema>;

/** The settings of a profile without its limits: they decide where credentials and data are sent. */
export type Connection = Readonly<Record<string, string>>;

/** The connection settings of a profile that are set. */
export function connectionOf({ limits: _, options, ...connection }: Profile): Connection {
  const texts = { ...connection, ...(options && { options: JSON.stringify(options) }) };
  return Object.fromEntries(
    Object.entries(texts).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  );
}

/** Reads and checks a profile. Paths in the result are absolute. */
export function readProfile(path: string): Result<Profile, CommandError> {
  const reject = (reason: string) =>
    fail({ exitCode: EXIT_CODE.rejected, message: `could not use the profile ${path}: ${reason}` });
  let value: unknown;
  try {
    value = parse(readFileSync(path, 'utf8'), { maxAliasCount: 0 }) ?? {};
  } catch (error) {
    return reject((error as Error).message);
  }
  const checked = profileSchema.safeParse(value);
  if (!checked.success) {
    const faults = checked.error.issues.map(({ path: at, message }) => [at.join('.'), describeIssue(message)]);
    return reject(faults.map(([at, fault]) => (at === '' ? fault : `\`${at}\` ${fault}`)).join('; '));
  }
  const profile = { ...checked.data };
  for (const key of ['caFile', 'tokenFile', 'passwordFile'] as const) {
    const file = profile[key];
    if (file !== undefined) profile[key] = resolve(dirname(path), file);
  }
  return ok(profile);
}
