import { join } from 'node:path';
import { type InstanceType, isServiceError } from '@sluice/client';
import { ok, type Plan, type Result } from '@sluice/core';
import type { Sites } from '@sluice/runner';
import type { CommandContext, GlobalOptions } from './command-context.ts';
import { findHome } from './home.ts';
import type { Refusal } from './refusal.ts';

/**
 * The clusters and instance types that a run would have to choose from. Those of the embedded service are known without
 * opening it, so that planning neither makes a home nor waits for a run that is under way.
 */
export async function listSites(
  plan: Plan,
  { options, context }: { options: GlobalOptions; context: CommandContext },
): Promise<Result<Sites, Refusal>> {
  const home = findHome(context, options);
  const { readProfile } = await import('./profile.ts');
  const profile = readProfile({ ...options, home }, context);
  if (!profile.ok) return profile;
  const url = options.service ?? profile.value.service;
  if (url === undefined) {
    const instanceTypes = await listEmbedded(home);
    const local = instanceTypes[0]?.clusterID ?? '';
    return ok({ home: local, accounts: { [local]: '' }, instanceTypes, volumeCluster: () => undefined });
  }
  const { openRemoteService, refuseService } = await import('./open-remote-service.ts');
  const opened = await openRemoteService(url, { profile: profile.value, flags: options, env: context.env });
  if (!opened.ok) return opened;
  const { service, scope, close } = opened.value;
  try {
    const { findSites } = await import('@sluice/runner');
    return ok(await findSites({ plan, scope, service }));
  } catch (error) {
    if (isServiceError(error)) return refuseService(url, error);
    throw error;
  } finally {
    await close();
  }
}

async function listEmbedded(home: string): Promise<InstanceType[]> {
  const { embeddedConfig } = await import('@sluice/service');
  return embeddedConfig({ root: join(home, 'service') }).clusters.flatMap(({ id, instanceTypes }) =>
    instanceTypes.map((type) => ({
      id: type.id,
      clusterID: id,
      cpu: { cores: type.cores, model: type.cpuModel },
      memory: { sizeGB: type.memoryGB },
      gpu: { count: type.gpus, model: type.gpuModel },
    })),
  );
}
