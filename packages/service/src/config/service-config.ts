import { isAbsolute } from 'node:path';
import { identifierSchema, own } from '@sluice/client';
import { durationSchema, parseSize, sizeSchema } from '@sluice/core';
import { z } from 'zod';
import { dockerConfigSchema, dockerTypeSchema } from '../engines/docker/docker-config.ts';
import { slurmConfigSchema, slurmPlacementSchema } from '../engines/slurm/slurm-config.ts';
import { GB } from '../protocol/sizes.ts';

const absolutePath = z.string().refine(isAbsolute, 'must be an absolute path');
const positive = z.number().int().positive();
const lifetime = durationSchema({ min: '1ms' });
/** The protocol announces memory as a whole number of GB. */
const memory = sizeSchema.refine((text) => parseSize(text) >= GB, 'must be at least 1GB');

/** A size that containers request by name. `options` are those of the engine (partition, QOS, …). */
export const instanceTypeConfigSchema = z.strictObject({
  id: identifierSchema,
  cpu: positive,
  memory,
  gpu: z.number().int().nonnegative().default(0),
  /** Default, also of `gpuModel`: the model that the engine reports. */
  cpuModel: z.string().optional(),
  gpuModel: z.string().optional(),
  options: z.record(z.string(), z.unknown()).default({}),
});
/** An instance type with defaults applied. */
export type InstanceTypeConfig = z.infer<typeof instanceTypeConfigSchema>;

/** The total of a cluster for its live containers. A container that does not fit waits in Pending. */
export const capacitySchema = z.strictObject({
  cpu: positive,
  memory,
  gpu: z.number().int().nonnegative().default(0),
});
/** A cluster's capacity. */
export type Capacity = z.infer<typeof capacitySchema>;

const quotaFields = { containers: positive.optional(), cpu: positive.optional(), volumes: sizeSchema.optional() };
/** A cluster in the configuration. Clusters share no storage, capacity or engine. */
export const clusterConfigSchema = z.strictObject({
  id: identifierSchema.refine((id) => id !== '-', 'must not be the wildcard -'),
  engine: z.string().min(1),
  options: z.record(z.string(), z.unknown()).default({}),
  /** The directory of this cluster's volumes and containers. Default: `clusters/<id>` in the root. */
  storage: absolutePath.optional(),
  /** Absent: no limit; the engine queues by itself, as Slurm does. */
  capacity: capacitySchema.optional(),
  accounts: z.array(identifierSchema.refine((id) => id !== '-', 'must not be the wildcard -')).default([]),
  instanceTypes: z.array(instanceTypeConfigSchema).min(1),
  /** The quota of each account; `accounts` overrides it for single accounts. Absent: no limit. */
  quota: z
    .strictObject({ ...quotaFields, accounts: z.record(z.string(), z.strictObject(quotaFields)).default({}) })
    .optional(),
});
/** A cluster's configuration with defaults applied. */
export type ClusterConfig = z.infer<typeof clusterConfigSchema>;

/** Certificate and key as PEM files. */
const tlsConfigSchema = z.strictObject({ certFile: absolutePath, keyFile: absolutePath });

/** A timer of more than 24.8 days would fire immediately. */
const LONGEST_TIMER = '23d';

const listenSchema = z.strictObject({ host: z.string().min(1), port: z.number().int().min(0).max(65_535) });

const fieldsSchema = z.strictObject({
  root: absolutePath,
  clusters: z.array(clusterConfigSchema).min(1),
  retention: z
    .strictObject({
      containers: lifetime.default('7d'),
      volumes: lifetime.default('7d'),
    })
    .prefault({}),
  login: z
    .strictObject({
      tokenHeader: z
        .string()
        .regex(/^[A-Za-z0-9_-]+$/)
        .default('svc_token'),
      tokenLifetime: lifetime.default('30d'),
    })
    .prefault({}),
  /** The size of each container's log; of a longer one, the beginning and the end are kept. */
  logs: z.strictObject({ max: sizeSchema.default('1GB') }).prefault({}),
  /** Time between the stop signal and the kill of a canceled container. */
  cancelGrace: durationSchema({ max: LONGEST_TIMER }).default('10s'),
  /** The URL at which clients reach the service, if it differs from the listener's (behind a reverse proxy). */
  publicUrl: z.url().optional(),
  tls: tlsConfigSchema.optional(),
  /** Addresses of reverse proxies whose X-Forwarded-For is trusted. */
  trustedProxies: z.array(z.string().min(1)).default([]),
  /** Where the API and WebDAV are served. */
  listen: z.array(listenSchema).default([]),
  /** HTTPS for exposed ports of containers, each under its own host name in `domain`. Absent: ports cannot be exposed. */
  ports: listenSchema
    .extend({
      domain: z.string().regex(/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/, 'must be a domain name in lower case'),
      /** A certificate for `*.domain`. Default: one signed by the service's own authority, in `authority` in the root. */
      tls: tlsConfigSchema.optional(),
      /** The port that browsers use, if a reverse proxy or firewall maps it. */
      publicPort: z.number().int().min(1).max(65_535).optional(),
    })
    .optional(),
  /** SFTP for the volumes; absent: none. */
  sftp: listenSchema
    .extend({
      /** Created if it does not exist. Default: `sftp_host_key` in the root. */
      hostKeyFile: absolutePath.optional(),
      /** `host:port` at which clients reach it, if that differs from the listener's address. */
      publicAddress: z.string().min(1).optional(),
    })
    .optional(),
});

/** Engines that run all containers as one user of the host, which does not isolate accounts from each other. */
const ONE_ACCOUNT_ENGINES: ReadonlySet<string> = new Set(['process', 'local']);

/** What the `options` of a cluster and of its instance types may contain, by engine. Engines that are not ours check them themselves. */
const ENGINE_OPTIONS: Readonly<Record<string, { readonly cluster: z.ZodType; readonly instanceType: z.ZodType }>> = {
  docker: { cluster: dockerConfigSchema, instanceType: dockerTypeSchema },
  slurm: { cluster: slurmConfigSchema, instanceType: slurmPlacementSchema },
};

/** The configuration of a service. `root` contains the store and, by default, the storage of all clusters. */
export const serviceConfigSchema = fieldsSchema.superRefine((config, context) => {
  const reject = (path: (string | number)[], message: string) => context.addIssue({ code: 'custom', path, message });
  config.clusters.forEach(({ id, engine, options, accounts, instanceTypes, quota }, i) => {
    for (const path of ONE_ACCOUNT_ENGINES.has(engine) ? optionPaths(options, instanceTypes) : [])
      reject(['clusters', i, ...path], `the engine '${engine}' has no options; remove it, or use docker or slurm`);
    for (const { path, message } of optionFaults(engine, options, instanceTypes))
      reject(['clusters', i, ...path], message);
    for (const account of Object.keys(quota?.accounts ?? {})) {
      if (!accounts.includes(account))
        reject(['clusters', i, 'quota', 'accounts', account], `the cluster has no account '${account}'`);
    }
    if (config.clusters.findIndex((cluster) => cluster.id === id) < i)
      reject(['clusters', i, 'id'], `there are two clusters '${id}'`);
    const others = accountsOfOneUser(config.clusters.slice(0, i)).filter((account) => !accounts.includes(account));
    if (ONE_ACCOUNT_ENGINES.has(engine) && accounts.length > 0 && accounts.length + others.length > 1) {
      const why = 'runs all containers as one user, which does not isolate accounts: give it one account';
      const where = accounts.length > 1 ? '' : `, which is '${others[0]}' on another cluster`;
      reject(['clusters', i, 'accounts'], `the engine '${engine}' ${why}${where}`);
    }
    instanceTypes.forEach((type, j) => {
      if (instanceTypes.findIndex((other) => other.id === type.id) < j) {
        reject(['clusters', i, 'instanceTypes', j, 'id'], `there are two instance types '${type.id}'`);
      }
    });
  });
});

/** The paths of all options of a cluster and its instance types. */
function optionPaths(options: object, instanceTypes: readonly InstanceTypeConfig[]): (string | number)[][] {
  const ofTypes = instanceTypes.flatMap((type, j) =>
    Object.keys(type.options).map((name) => ['instanceTypes', j, 'options', name]),
  );
  return [...Object.keys(options).map((name) => ['options', name]), ...ofTypes];
}

interface OptionFault {
  readonly path: (string | number)[];
  readonly message: string;
}

/** What the engine would reject, or ignore, of the options of a cluster and its instance types. */
function optionFaults(engine: string, options: object, types: readonly InstanceTypeConfig[]): OptionFault[] {
  const known = own(ENGINE_OPTIONS, engine);
  if (known === undefined) return [];
  const ofTypes = types.flatMap((type, j) => {
    const faults = faultsOf(known.instanceType, type.options, `instance types of the engine '${engine}' have`);
    return faults.map(({ path, message }) => ({ path: ['instanceTypes', j, 'options', ...path], message }));
  });
  const ofCluster = faultsOf(known.cluster, options, `the engine '${engine}' has`);
  return [...ofCluster.map(({ path, message }) => ({ path: ['options', ...path], message })), ...ofTypes];
}

function faultsOf(schema: z.ZodType, options: object, owner: string): OptionFault[] {
  const issues = schema.safeParse(options).error?.issues ?? [];
  return issues.flatMap((issue) => {
    const path = issue.path.filter((part) => typeof part !== 'symbol');
    if (issue.code !== 'unrecognized_keys') return [{ path, message: issue.message }];
    return issue.keys.map((key) => ({ path: [...path, key], message: `${owner} no option '${key}'; remove it` }));
  });
}

/** The accounts of all clusters whose containers run as the service's own user. */
function accountsOfOneUser(clusters: readonly Pick<ClusterConfig, 'engine' | 'accounts'>[]): string[] {
  return clusters.filter(({ engine }) => ONE_ACCOUNT_ENGINES.has(engine)).flatMap(({ accounts }) => accounts);
}

/** A configuration with defaults applied. */
export type ServiceConfig = z.infer<typeof serviceConfigSchema>;
/** A configuration before defaults are applied. */
export type ServiceConfigInput = z.input<typeof serviceConfigSchema>;
