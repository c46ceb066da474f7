import { release, totalmem } from 'node:os';
import type { HardwareModels } from '../engine.ts';
import { cpuModels, readGpuModel } from '../machine-models.ts';
import type { DockerInfo } from './docker-info.ts';

/**
 * The models of the daemon's machine. The daemon does not report them, so they are those of this machine if kernel and
 * memory size match; otherwise the socket may lead to another machine, and nothing is known.
 */
export async function dockerModels({ KernelVersion, MemTotal }: DockerInfo): Promise<HardwareModels> {
  if (KernelVersion !== release() || MemTotal !== totalmem()) return {};
  const gpu = await readGpuModel();
  return { ...cpuModels(), ...(gpu !== undefined && { gpu }) };
}
