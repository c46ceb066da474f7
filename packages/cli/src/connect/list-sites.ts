import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { FEATURES, type InstanceType, isServiceError } from '@sluice/client';
import { fail, ok, type Plan, type Result } from '@sluice/core';
import { type ImageUse, listImages, type SiteLimits } from '@sluice/run';
import {
  chooseClusters,
  describeUnknownVolume,
  findSites,
  findUnknown,
  resolveImages,
  type Sites,
} from '@sluice/runner';
import { amountOf, type ServiceConfig } from '@sluice/service';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import type { CommandError } from '../context/command-rejection.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { findHome } from '../home/home.ts';
import { configureEmbedded } from './configure-embedded.ts';
import { type EmbeddedEngine, placeOfEngine } from './embedded-engine.ts';
import { findEmbeddedFault, openService, showIgnored } from './open-service.ts';

/** The clusters and instance types that a run could use, and the limits of the site. */
export interface PlannedSites extends Sites {
  readonly limits?: SiteLimits;
  /** As the service resolves them now; absent if no service was contacted. */
  readonly images?: readonly ImageUse[];
  /** Describes what the plan names and the service does not have. */
  readonly unknown?: string;
}

/**
 * Lists the clusters and instance types that a run could use. Those of the embedded service are known without opening
 * it, so that planning neither creates a home nor waits for a run in progress.
 */
export async function listSites(
  plan: Plan,
  { options, context }: { options: GlobalOptions; context: CommandContext },
): Promise<Result<PlannedSites, CommandError>> {
  const { chooseService } = await import('./choose-service.ts');
  const chosen = chooseService(options, context);
  if (!chosen.ok) return chosen;
  const { home, url, profile, engine } = chosen.value;
  const limits = profile.limits && { limits: profile.limits };
  if (url === undefined) {
    const fault = findEmbeddedFault(options, engine);
    if (fault !== undefined) return fail({ exitCode: EXIT_CODE.rejected, message: fault });
    const listed = await listEmbedded(home, engine);
    if (!listed.ok) return listed;
    const instanceTypes = listed.value;
    const local = instanceTypes[0]?.clusterID ?? '';
    const accounts = { [local]: '' };
    const unknown = await findUnknownVolume(plan, { engine, options, context });
    if (!unknown.ok) return unknown;
    const known = { home: local, accounts, instanceTypes, volumeCluster: () => undefined, ...limits };
    return ok({ ...known, ...(unknown.value !== undefined && { unknown: unknown.value }) });
  }
  const [{ openChosenService }, { rejectService }] = await Promise.all([
    import('./open-chosen-service.ts'),
    import('./reject-service.ts'),
  ]);
  showIgnored(chosen.value, context);
  const opened = await openChosenService({ ...chosen.value, url }, { options, context });
  if (!opened.ok) return opened;
  const { service, scope, loginAdvice, close } = opened.value;
  try {
    const unknown = await findUnknown({ plan, scope, service });
    const sites = await findSites({ plan, scope, service });
    const chosen = chooseClusters(plan, sites);
    const run = { id: 'preview', name: plan.pipeline.name, plannedTime: '' };
    const placed = { plan, home: scope, placement: chosen.ok ? chosen.value : undefined };
    const images = await resolveImages({ ...placed, service, instanceTypes: sites.instanceTypes, run });
    const listed = listImages({ ...placed, images, run });
    return ok({ ...sites, ...limits, images: listed, ...(unknown !== undefined && { unknown }) });
  } catch (error) {
    if (isServiceError(error)) return rejectService(url, error, { login: loginAdvice });
    throw error;
  } finally {
    await close();
  }
}

/** Opens the embedded service only for volumes that a plan names by ID. Creates no home. */
async function findUnknownVolume(
  plan: Plan,
  { engine, options, context }: { engine: EmbeddedEngine; options: GlobalOptions; context: CommandContext },
): Promise<Result<string | undefined, CommandError>> {
  const named = Object.entries(plan.pipeline.volumes).find(([, { id }]) => id !== undefined);
  if (named === undefined) return ok(undefined);
  const hasService = existsSync(join(findHome(context, options), placeOfEngine(engine).root));
  if (!hasService) return ok(describeUnknownVolume(named[0], named[1].id ?? ''));
  const opened = await openService(options, context);
  if (!opened.ok) return opened;
  try {
    return ok(await findUnknown({ plan, ...opened.value }));
  } finally {
    await opened.value.close();
  }
}

async function listEmbedded(
  home: string,
  engine: EmbeddedEngine,
): Promise<Result<readonly InstanceType[], CommandError>> {
  const root = join(home, placeOfEngine(engine).root);
  try {
    const { config } = await configureEmbedded(root, { engine });
    // Of the features, those that a plan reads.
    const features = [FEATURES.multiNode, ...(engine.name === 'local' ? [FEATURES.dockerOptions] : [])];
    const listed = config.clusters.flatMap(({ id, instanceTypes }) =>
      instanceTypes.map((type) => describeType(id, type)),
    );
    return ok(listed.map((type) => ({ ...type, features })));
  } catch (error) {
    return fail({ exitCode: EXIT_CODE.unreachable, message: `could not plan: ${(error as Error).message}` });
  }
}

function describeType(
  clusterID: string,
  type: ServiceConfig['clusters'][number]['instanceTypes'][number],
): InstanceType {
  const { cores, memoryGB } = amountOf(type);
  return {
    id: type.id,
    clusterID,
    cpu: { cores, model: type.cpuModel ?? 'generic' },
    memory: { sizeGB: memoryGB },
    gpu: { count: type.gpu, model: type.gpuModel ?? '' },
  };
}
