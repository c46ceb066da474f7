import { own, PULL_POLICIES, ULIMITS } from '@sluice/client';
import { durationSchema, sizeSchema } from '@sluice/core';
import { z } from 'zod';

/** The socket that Docker's own clients use: `DOCKER_HOST` if it names a Unix socket, otherwise the default path. */
function defaultSocket(host: string | undefined): string {
  return host?.startsWith('unix://') ? host.slice('unix://'.length) : '/var/run/docker.sock';
}

/** Logins for pulls, by registry host; `docker.io` for image names without a host. */
const loginsSchema = z.record(z.string(), z.strictObject({ username: z.string(), password: z.string() }));

const limit = z.int().min(-1);
const ulimit = z.union(
  [
    limit.transform((one) => ({ soft: one, hard: one })),
    z
      .strictObject({ soft: limit, hard: limit })
      .refine(({ soft, hard }) => hard === -1 || (soft !== -1 && soft <= hard)),
  ],
  'must be a number, -1 for no limit, or a map with soft and hard, of which soft is not higher',
);
/** What a step may set, and `root` for a user who is root or may be. */
const ALLOWED = ['shmSize', 'ulimits', 'user', 'root'] as const;

/** Options of containers that a cluster's configuration, or an instance type's `options`, may set. */
const containerShape = {
  shmSize: sizeSchema.optional(),
  ulimits: z.partialRecord(z.enum(ULIMITS, `must be one of ${ULIMITS.join(', ')}`), ulimit).optional(),
  user: z.string().min(1).optional(),
  /** A step may always set it. Default: `missing`. */
  pull: z.enum(PULL_POLICIES, `must be one of ${PULL_POLICIES.join(', ')}`).optional(),
  /** The GPUs that containers get, each at most one container at a time. Default: the daemon chooses. */
  gpuIDs: z
    .array(z.string().regex(/^[\w./:=-]{1,200}$/))
    .min(1)
    .refine((ids) => new Set(ids).size === ids.length, 'must name each GPU once')
    .optional(),
  /** The options that a step may set or replace. Default: none. */
  allow: z.array(z.enum(ALLOWED, `must be one of ${ALLOWED.join(', ')}`)).optional(),
};

/** Per instance type: overrides the cluster's settings. */
export const dockerTypeSchema = z.strictObject(containerShape);

/** What the user of an own machine may do there: everything. */
export const ALLOW_ALL: Pick<DockerConfig, 'allow'> = { allow: [...ALLOWED] };

/** `engine: docker` of a cluster's configuration. */
export const dockerConfigSchema = z.strictObject({
  ...containerShape,
  /** Path of the socket of Docker Engine, or of Podman's compatible service. */
  socketPath: z.string().default(() => defaultSocket(process.env.DOCKER_HOST)),
  /** Logins for all accounts. */
  registries: loginsSchema.default({}),
  /** Logins of single accounts, by account ID. They take precedence over `registries`. */
  accounts: z.record(z.string(), z.strictObject({ registries: loginsSchema })).default({}),
  /** Interval at which the containers are listed, in case an event was missed. */
  pollInterval: durationSchema({ min: '1ms', max: '1h' }).default('5s'),
});
/** The checked configuration, with all defaults filled in. */
export type DockerConfig = z.infer<typeof dockerConfigSchema>;

/** The credentials for pulls from one registry. */
export interface RegistryLogin {
  readonly login: { readonly username: string; readonly password: string } | undefined;
  /**
   * Whether any account has its own login there. Images that one account has pulled must then not be used by others without
   * a login.
   */
  readonly isPrivate: boolean;
}

/** Finds the login of an account at a registry. */
export function registryLogin(config: DockerConfig, { registry, accountID }: LoginFor): RegistryLogin {
  const login = own(own(config.accounts, accountID)?.registries, registry) ?? own(config.registries, registry);
  const isPrivate = Object.values(config.accounts).some(({ registries }) => own(registries, registry) !== undefined);
  return { login, isPrivate };
}

interface LoginFor {
  readonly registry: string;
  readonly accountID: string;
}
