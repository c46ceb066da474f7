import { release, totalmem } from 'node:os';
import { z } from 'zod';
import type { HardwareModels } from '../engine.ts';
import { cpuModels, readGpuModel } from '../machine-models.ts';
import { ACTS_WITHIN_MS, type DockerApi } from './docker-api.ts';

const infoSchema = z.looseObject({ KernelVersion: z.string(), MemTotal: z.number() });

/**
 * The models of the daemon's machine. The daemon does not report them, so they are those of this machine if kernel and
 * memory size match; otherwise the socket may lead to another machine, and nothing is known.
 */
export async function dockerModels(api: DockerApi): Promise<HardwareModels> {
  const info = infoSchema.safeParse(
    await api.call('GET', '/info', { answersWithin: ACTS_WITHIN_MS }).catch(() => undefined),
  );
  if (!info.success || info.data.KernelVersion !== release() || info.data.MemTotal !== totalmem()) return {};
  const gpu = await readGpuModel();
  return { ...cpuModels(), ...(gpu !== undefined && { gpu }) };
}
