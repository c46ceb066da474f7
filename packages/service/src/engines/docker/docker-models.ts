import { release, totalmem } from 'node:os';
import { z } from 'zod';
import type { HardwareModels } from '../engine.ts';
import { cpuModels, readGpuModel } from '../machine-models.ts';
import { ACTS_WITHIN_MS, type DockerApi } from './docker-api.ts';

const infoSchema = z.looseObject({ KernelVersion: z.string(), MemTotal: z.number() });

/**
 * What the daemon's machine has: the daemon does not tell, but most run on the machine of the service. A socket may also
 * lead to another one, which has another kernel or another size.
 */
export async function dockerModels(api: DockerApi): Promise<HardwareModels> {
  const info = infoSchema.safeParse(
    await api.call('GET', '/info', { answersWithin: ACTS_WITHIN_MS }).catch(() => undefined),
  );
  if (!info.success || info.data.KernelVersion !== release() || info.data.MemTotal !== totalmem()) return {};
  const gpu = await readGpuModel();
  return { ...cpuModels(), ...(gpu !== undefined && { gpu }) };
}
