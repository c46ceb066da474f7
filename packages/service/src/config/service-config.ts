import { isAbsolute } from 'node:path';
import { identifierSchema } from '@sluice/client';
import { z } from 'zod';

const absolutePath = z.string().refine(isAbsolute, 'must be an absolute path');
const positive = z.number().int().positive();

/** A resource amount that containers may ask for by name; `options` are the engine's (partition, runtime, …). */
export const instanceTypeConfigSchema = z.strictObject({
  id: identifierSchema,
  cores: positive,
  memoryGB: positive,
  gpus: z.number().int().nonnegative().default(0),
  /** Default of both: what the engine knows of its machines. */
  cpuModel: z.string().optional(),
  gpuModel: z.string().optional(),
  options: z.record(z.string(), z.unknown()).default({}),
});
export type InstanceTypeConfig = z.infer<typeof instanceTypeConfigSchema>;

/** What all live containers of a cluster may hold together; a container that does not fit waits in Pending. */
export const capacitySchema = z.strictObject({
  cores: positive,
  memoryGB: positive,
  gpus: z.number().int().nonnegative().default(0),
});
export type Capacity = z.infer<typeof capacitySchema>;

const quotaFields = { containers: positive.optional(), cores: positive.optional(), volumeGB: positive.optional() };
const quotaAmountsSchema = z.strictObject(quotaFields);
/** What an account may have at once: containers that have not ended, their cores, and bytes in volumes. */
export type QuotaAmounts = z.infer<typeof quotaAmountsSchema>;

/** Clusters are independent of each other in storage, capacity and engine. */
export const clusterConfigSchema = z.strictObject({
  id: identifierSchema.refine((id) => id !== '-', 'must not be the wildcard -'),
  engine: z.string().min(1),
  options: z.record(z.string(), z.unknown()).default({}),
  /** Where volumes and container directories of this cluster live. Default: `clusters/<id>` beneath the root. */
  storage: absolutePath.optional(),
  /** Absent: whatever the engine takes (it queues by itself, as Slurm does). */
  capacity: capacitySchema.optional(),
  accounts: z.array(identifierSchema.refine((id) => id !== '-', 'must not be the wildcard -')).default([]),
  instanceTypes: z.array(instanceTypeConfigSchema).min(1),
  /** Of each account; `accounts` says what is different for single ones. Absent: none. */
  quota: z.strictObject({ ...quotaFields, accounts: z.record(z.string(), quotaAmountsSchema).default({}) }).optional(),
});
export type ClusterConfig = z.infer<typeof clusterConfigSchema>;

/** Certificate and key in PEM files. */
const tlsConfigSchema = z.strictObject({ certFile: absolutePath, keyFile: absolutePath });

/** 23 days: a timer of more than 24.8 would go off at once. */
const MAX_GRACE_SECONDS = 2_000_000;

const listenSchema = z.strictObject({ host: z.string().min(1), port: z.number().int().min(0).max(65_535) });

const fieldsSchema = z.strictObject({
  root: absolutePath,
  clusters: z.array(clusterConfigSchema).min(1),
  retention: z
    .strictObject({
      containerDays: z.number().positive().default(7),
      volumeDays: z.number().positive().default(7),
    })
    .prefault({}),
  login: z
    .strictObject({
      tokenHeader: z
        .string()
        .regex(/^[A-Za-z0-9_-]+$/)
        .default('svc_token'),
      tokenDays: z.number().positive().default(30),
    })
    .prefault({}),
  /** What is kept of each container's output: the beginning and the end. */
  logs: z.strictObject({ maxMB: positive.default(1000) }).prefault({}),
  /** How long a canceled container has between being asked and being killed. */
  cancelGraceSeconds: z.number().nonnegative().max(MAX_GRACE_SECONDS).default(10),
  /** The address that clients reach the service under, where it is not that of the listener (a front proxy). */
  publicUrl: z.url().optional(),
  tls: tlsConfigSchema.optional(),
  /** Addresses of front proxies whose X-Forwarded-For is believed. */
  trustedProxies: z.array(z.string().min(1)).default([]),
  /** Where the API and WebDAV are served. */
  listen: z.array(listenSchema).default([]),
  /** HTTPS for the ports that containers expose, under one host name each beneath `domain`; absent: none can be. */
  ports: listenSchema
    .extend({
      domain: z.string().regex(/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/, 'must be a domain name in lower case'),
      /** For `*.domain`. Default: one signed by an authority of our own, in `authority` beneath the root. */
      tls: tlsConfigSchema.optional(),
      /** The port that browsers reach, where a front proxy or the firewall maps it. */
      publicPort: z.number().int().min(1).max(65_535).optional(),
    })
    .optional(),
  /** SFTP for the volumes; absent: none. */
  sftp: listenSchema
    .extend({
      /** Made when absent. Default: `sftp_host_key` beneath the root. */
      hostKeyFile: absolutePath.optional(),
      /** `host:port` as clients reach it, where that is not where it listens. */
      publicAddress: z.string().min(1).optional(),
    })
    .optional(),
});

/** Engines that run containers as one user of the host, so that accounts could reach each other's. */
const ONE_ACCOUNT_ENGINES: ReadonlySet<string> = new Set(['process', 'local']);

/** The whole configuration of a service, defaults filled in. `root` holds the store and, by default, all storage. */
export const serviceConfigSchema = fieldsSchema.superRefine((config, context) => {
  const refuse = (path: (string | number)[], message: string) => context.addIssue({ code: 'custom', path, message });
  config.clusters.forEach(({ id, engine, accounts, instanceTypes, quota }, i) => {
    for (const account of Object.keys(quota?.accounts ?? {})) {
      if (!accounts.includes(account))
        refuse(['clusters', i, 'quota', 'accounts', account], `the cluster has no account '${account}'`);
    }
    if (config.clusters.findIndex((cluster) => cluster.id === id) < i)
      refuse(['clusters', i, 'id'], `there are two clusters '${id}'`);
    const others = accountsOfOneUser(config.clusters.slice(0, i)).filter((account) => !accounts.includes(account));
    if (ONE_ACCOUNT_ENGINES.has(engine) && accounts.length > 0 && accounts.length + others.length > 1) {
      const why = 'runs all containers as one user, which is no border between accounts: give it one account';
      const where = accounts.length > 1 ? '' : `, which is '${others[0]}' on another cluster`;
      refuse(['clusters', i, 'accounts'], `the engine '${engine}' ${why}${where}`);
    }
    instanceTypes.forEach((type, j) => {
      if (instanceTypes.findIndex((other) => other.id === type.id) < j) {
        refuse(['clusters', i, 'instanceTypes', j, 'id'], `there are two instance types '${type.id}'`);
      }
    });
  });
});

/** Of all clusters whose containers run as the service's own user. */
function accountsOfOneUser(clusters: readonly Pick<ClusterConfig, 'engine' | 'accounts'>[]): string[] {
  return clusters.filter(({ engine }) => ONE_ACCOUNT_ENGINES.has(engine)).flatMap(({ accounts }) => accounts);
}

export type ServiceConfig = z.infer<typeof serviceConfigSchema>;
/** A configuration before its defaults are filled in, as a program or a file gives it. */
export type ServiceConfigInput = z.input<typeof serviceConfigSchema>;
