import { isAbsolute, join, relative, resolve } from 'node:path';
import { durationSchema, parseDuration, parseSize, sizeSchema } from '@sluice/core';
import { findWebhookFault } from '@sluice/host';
import { z } from 'zod';

const positive = z.number().int().positive();
const size = sizeSchema.transform(parseSize);
const retention = durationSchema({ min: '1ms' }).transform(parseDuration);
const limits = {
  concurrent: positive,
  steps: positive,
  storage: size,
  submissionsPerMinute: positive,
  retention,
};
const webhook = z.string().superRefine((entry, context) => {
  const message = findWebhookFault(entry);
  if (message !== undefined) context.addIssue({ code: 'custom', message });
});

/** How a server executes the runs of its accounts. */
export const runsSchema = z
  .strictObject({
    concurrent: limits.concurrent.default(20),
    steps: limits.steps.default(200_000),
    storage: size.prefault('10GB'),
    submissionsPerMinute: limits.submissionsPerMinute.default(60),
    /** Ended runs are removed after this time. */
    retention: retention.prefault('90d'),
    /** Other limits for single accounts, by `CLUSTER/ACCOUNT`. */
    accounts: z.record(z.string(), z.strictObject(limits).partial()).default({}),
    /** The key of the runs' secrets, relative to the directory of the configuration. */
    keyFile: z.string().min(1).optional(),
    /** Host names, addresses and networks to which webhooks are allowed although they are not public. */
    webhooks: z.array(webhook).default([]),
  })
  .prefault({});

/** The validated `runs` section of a configuration. Sizes are in bytes, times in milliseconds. */
export type RunsConfig = z.output<typeof runsSchema>;

/** The file with the key of the runs' secrets. `directory` is that of the configuration. */
export function runKeyPath({ keyFile }: RunsConfig, directory: string): string {
  return keyFile === undefined ? join(directory, 'runs.key') : resolve(directory, keyFile);
}

/** Why the key file must not be where the configuration says: who copies the store must not have the key. */
export function findKeyFault(
  runs: RunsConfig,
  { root, directory }: { readonly root: string; readonly directory: string },
): string | undefined {
  if (runs.keyFile === undefined || !isBelow(runKeyPath(runs, directory), root)) return undefined;
  return `runs.keyFile: the file must be outside of ${root}, whose secrets it encrypts`;
}

/** Whether a path is in a directory or below it. */
export function isBelow(path: string, directory: string): boolean {
  const way = relative(directory, path);
  return !way.startsWith('..') && !isAbsolute(way);
}
