import { type Account, type ContainerService, isServiceError, type Scope } from '@sluice/client';
import type { Plan } from '@sluice/core';

/**
 * Why a plan names an account or a volume that the service does not have; undefined where it has them all. Costs one
 * request, and a listing of the volumes where the plan names one by its ID. Throws `ServiceError` of a service that
 * does not answer; one that refuses to list them may have them.
 */
export async function findUnknown({
  plan,
  scope: { clusterID, accountID },
  service,
}: {
  readonly plan: Plan;
  readonly scope: Scope;
  readonly service: Pick<ContainerService, 'discovery' | 'volumes'>;
}): Promise<string | undefined> {
  const accounts = await unlessRefused(() => listAccounts(service, clusterID));
  const there = (accounts ?? []).filter((account) => account.clusterID === clusterID);
  if (accounts !== undefined && !there.some((account) => account.accountID === accountID)) {
    const names = there.map((account) => account.accountID).join(', ');
    const others = names === '' ? 'this login has no account there' : `there this login has ${names}`;
    return `could not find account ${accountID} on cluster ${clusterID}: ${others}`;
  }
  const wanted = Object.entries(plan.pipeline.volumes).filter(([, { id }]) => id !== undefined);
  if (wanted.length === 0) return undefined;
  const known = await unlessRefused(async () => {
    const ids = new Set<string>();
    for await (const { id } of service.volumes.list({ clusterID: '-', accountID: '-' })) ids.add(id);
    return ids;
  });
  const missing = known && wanted.find(([, { id = '' }]) => !known.has(id));
  return missing && describeUnknownVolume(missing[0], missing[1].id ?? '');
}

/** What is wrong with a volume of the pipeline whose ID no volume of the service has. */
export function describeUnknownVolume(name: string, id: string): string {
  return `could not find volume ${name}: the service has no volume ${id} that this account may use; correct its \`id\``;
}

async function listAccounts(
  { discovery }: Pick<ContainerService, 'discovery'>,
  clusterID: string,
): Promise<readonly Account[]> {
  try {
    return await discovery.listAccounts(clusterID);
  } catch (error) {
    if (isServiceError(error, 'NOT_FOUND')) return [];
    throw error;
  }
}

/** Undefined where the service does not let this login ask. */
async function unlessRefused<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (isServiceError(error, 'PERMISSION_DENIED', 'NOT_FOUND', 'INVALID_ARGUMENT')) return undefined;
    throw error;
  }
}
