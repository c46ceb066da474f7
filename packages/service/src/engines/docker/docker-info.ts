import { z } from 'zod';
import { ACTS_WITHIN_MS, type DockerApi } from './docker-api.ts';

const infoSchema = z.looseObject({
  KernelVersion: z.string().optional(),
  MemTotal: z.number().optional(),
  /** False: the kernel gives the daemon no memory cgroup, and it ignores the limits of containers. */
  MemoryLimit: z.boolean().optional(),
});

/** What the daemon reports of itself and of its machine. */
export type DockerInfo = z.infer<typeof infoSchema>;

/** Empty if the daemon does not tell. Never rejects. */
export async function readDockerInfo(api: DockerApi): Promise<DockerInfo> {
  const reply = await api.call('GET', '/info', { answersWithin: ACTS_WITHIN_MS }).catch(() => undefined);
  return infoSchema.safeParse(reply).data ?? {};
}
