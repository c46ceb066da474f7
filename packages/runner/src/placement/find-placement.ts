import type { InstanceType } from '@sluice/client';
import { fail, ok, own, type Result } from '@sluice/core';
import type { RunError, RunPlacement } from '@sluice/run';
import type { ProvisionOptions } from '../session/provision-options.ts';
import { chooseClusters } from './choose-clusters.ts';
import { fitsOn, type Sites, unofferedLevel } from './choose-for-part.ts';

/** The result of placing a run. */
export interface FoundPlacement {
  /** Of every cluster on which a step may run; empty if no step has a container. */
  readonly instanceTypes: readonly InstanceType[];
  /** Absent: every step runs on the run's own cluster. */
  readonly placement?: RunPlacement;
}

/**
 * Requests clusters and instance types as far as the plan leaves a choice, and chooses. A resumed run keeps its
 * placement. Throws `ServiceError`.
 */
export async function findPlacement(options: ProvisionOptions): Promise<Result<FoundPlacement, RunError>> {
  const { plan, scope, service, placement: before, limits } = options;
  const isPlaced =
    before !== undefined ||
    limits !== undefined ||
    plan.pipeline.placement !== undefined ||
    plan.steps.some(({ step }) => step.placement !== undefined || step.perCell?.placement !== undefined);
  // The types are listed even if there is nothing to choose, since they announce the features of their clusters.
  if (plan.steps.every(({ step }) => step.approval !== undefined)) return ok({ instanceTypes: [] });
  if (before) return ok({ instanceTypes: await service.discovery.listInstanceTypes('-'), placement: before });
  if (!isPlaced) {
    const there = (await service.discovery.listInstanceTypes(scope.clusterID)).filter(
      (type) => type.clusterID === scope.clusterID,
    );
    if (
      plan.steps.every(
        (planned) => fitsOn(plan, { planned }, there) && unofferedLevel(plan, { planned }, there) === undefined,
      )
    )
      return ok({ instanceTypes: there });
  }
  const sites = await findSites(options);
  const placement = chooseClusters(plan, sites);
  if (!placement.ok) return fail({ code: 'NO_INSTANCE_TYPE', message: placement.error });
  return ok({ instanceTypes: sites.instanceTypes, placement: placement.value });
}

type Asked = Pick<ProvisionOptions, 'plan' | 'scope' | 'service'>;

/** The clusters, accounts and instance types for a plan's steps. Throws `ServiceError`. */
export async function findSites(options: Asked): Promise<Sites> {
  const { plan, scope, service } = options;
  const volumes = await findVolumes(options);
  return {
    home: scope.clusterID,
    accounts: await findAccounts(options),
    instanceTypes: await service.discovery.listInstanceTypes('-'),
    volumeCluster(name) {
      const volume = own(plan.pipeline.volumes, name);
      if (volume?.id !== undefined) return volumes.get(volume.id) ?? scope.clusterID;
      return volume?.source === undefined ? scope.clusterID : undefined;
    },
  };
}

/** One account on each cluster: the one with the same ID as the run's account, otherwise the first by ID. */
async function findAccounts({ service, scope }: Asked): Promise<Record<string, string>> {
  const accounts: Record<string, string> = { [scope.clusterID]: scope.accountID };
  const found = await service.discovery.listAccounts('-');
  for (const { clusterID, accountID } of [...found].sort((a, b) => (a.accountID < b.accountID ? -1 : 1))) {
    if (clusterID === scope.clusterID) continue;
    if (own(accounts, clusterID) === undefined || accountID === scope.accountID) accounts[clusterID] = accountID;
  }
  return accounts;
}

/** The cluster of each volume that the pipeline names by its ID. */
async function findVolumes({ service, plan }: Asked): Promise<ReadonlyMap<string, string>> {
  const wanted = new Set(Object.values(plan.pipeline.volumes).flatMap(({ id }) => (id === undefined ? [] : [id])));
  const found = new Map<string, string>();
  if (wanted.size === 0) return found;
  for await (const { id, clusterID } of service.volumes.list({ clusterID: '-', accountID: '-' })) {
    if (wanted.has(id)) found.set(id, clusterID);
  }
  return found;
}
