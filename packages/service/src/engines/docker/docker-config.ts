import { z } from 'zod';

/** `engine: docker` of a cluster's configuration. */
export const dockerConfigSchema = z.strictObject({
  /** Socket of Docker Engine, or of Podman's compatible service. */
  socketPath: z.string().default('/var/run/docker.sock'),
  /** Registry host to its login, for pulls; `docker.io` for names without a host. */
  registries: z.record(z.string(), z.strictObject({ username: z.string(), password: z.string() })).default({}),
  /** How often the containers are listed in case an event was missed, in milliseconds. */
  pollMs: z.number().int().positive().default(5000),
});
export type DockerConfig = z.infer<typeof dockerConfigSchema>;
