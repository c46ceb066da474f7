import { z } from 'zod';

/** Where Docker's own clients look: `DOCKER_HOST` where it names a unix socket, else the usual place. */
function defaultSocket(host: string | undefined): string {
  return host?.startsWith('unix://') ? host.slice('unix://'.length) : '/var/run/docker.sock';
}

/** `engine: docker` of a cluster's configuration. */
export const dockerConfigSchema = z.strictObject({
  /** Socket of Docker Engine, or of Podman's compatible service. */
  socketPath: z.string().default(() => defaultSocket(process.env.DOCKER_HOST)),
  /** Registry host to its login, for pulls; `docker.io` for names without a host. */
  registries: z.record(z.string(), z.strictObject({ username: z.string(), password: z.string() })).default({}),
  /** How often the containers are listed in case an event was missed, in milliseconds. */
  pollMs: z.number().int().positive().default(5000),
});
export type DockerConfig = z.infer<typeof dockerConfigSchema>;
