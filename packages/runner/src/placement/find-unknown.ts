import { type Account, type ContainerService, isServiceError, type Scope } from '@sluice/client';
import type { Plan } from '@sluice/core';

/**
 * A message about the first account or volume of a plan that the service does not have; undefined if it has them all, or
 * if it does not list them. Costs one request, and a listing of the volumes if the plan names one by its ID. Throws
 * `ServiceError` if the service does not answer.
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
  const accounts = await unlessRejected(() => listAccounts(service, clusterID));
  const there = (accounts ?? []).filter((account) => account.clusterID === clusterID);
  if (accounts !== undefined && !there.some((account) => account.accountID === accountID)) {
    const names = there.map((account) => account.accountID).join(', ');
    const others = names === '' ? 'this login has no account there' : `there this login has ${names}`;
    return `could not find account ${accountID} on cluster ${clusterID}: ${others}`;
  }
  const wanted = Object.entries(plan.pipeline.volumes).filter(([, { id }]) => id !== undefined);
  if (wanted.length === 0) return undefined;
  const known = await unlessRejected(async () => {
    const ids = new Set<string>();
    for await (const { id } of service.volumes.list({ clusterID: '-', accountID: '-' })) ids.add(id);
    return ids;
  });
  const missing = known && wanted.find(([, { id = '' }]) => !known.has(id));
  return missing && describeUnknownVolume(missing[0], missing[1].id ?? '');
}

/** The message about a volume of the pipeline whose ID the service does not know. */
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

/** Undefined if the service denies this request to the login. */
async function unlessRejected<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (isServiceError(error, 'PERMISSION_DENIED', 'NOT_FOUND', 'INVALID_ARGUMENT')) return undefined;
    throw error;
  }
}
