import { own } from '@sluice/client';
import { z } from 'zod';

/** Where Docker's own clients look: `DOCKER_HOST` where it names a unix socket, else the usual place. */
function defaultSocket(host: string | undefined): string {
  return host?.startsWith('unix://') ? host.slice('unix://'.length) : '/var/run/docker.sock';
}

/** Registry host to its login, for pulls; `docker.io` for names without a host. */
const loginsSchema = z.record(z.string(), z.strictObject({ username: z.string(), password: z.string() }));

/** `engine: docker` of a cluster's configuration. */
export const dockerConfigSchema = z.strictObject({
  /** Socket of Docker Engine, or of Podman's compatible service. */
  socketPath: z.string().default(() => defaultSocket(process.env.DOCKER_HOST)),
  /** Logins for all accounts. */
  registries: loginsSchema.default({}),
  /** Logins of single accounts, by their IDs; they come before those for all. */
  accounts: z.record(z.string(), z.strictObject({ registries: loginsSchema })).default({}),
  /** How often the containers are listed in case an event was missed, in milliseconds. */
  pollMs: z.number().int().positive().default(5000),
});
export type DockerConfig = z.infer<typeof dockerConfigSchema>;

/** What a pull from one registry may use. */
export interface RegistryLogin {
  readonly login: { readonly username: string; readonly password: string } | undefined;
  /** Some account has a login of its own there: what one account has pulled is not for the others to use unasked. */
  readonly isPrivate: boolean;
}

/** The login of an account at a registry. */
export function registryLogin(config: DockerConfig, { registry, accountID }: LoginFor): RegistryLogin {
  const login = own(own(config.accounts, accountID)?.registries, registry) ?? own(config.registries, registry);
  const isPrivate = Object.values(config.accounts).some(({ registries }) => own(registries, registry) !== undefined);
  return { login, isPrivate };
}

interface LoginFor {
  readonly registry: string;
  readonly accountID: string;
}
