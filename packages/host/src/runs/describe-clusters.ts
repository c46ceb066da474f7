import { type ContainerService, isServiceError } from '@sluice/client';
import { own } from '@sluice/core';
import { listPoolUse } from '@sluice/home';
import type { z } from 'zod';
import { ApiError } from '../errors/api-error.ts';
import type { clusterList } from '../schemas/cluster-replies.ts';
import type { Followers } from './open-followers.ts';
import type { RunList } from './run-list.ts';
import { optional } from './to-time.ts';

type Reply = z.input<typeof clusterList>;

/** The runs of a home, and the services that they use. */
interface Context {
  readonly home: string;
  readonly list: RunList;
  readonly followers: Followers;
  /** Throws `ApiError`. */
  readonly openService: (runId: string) => Promise<ContainerService>;
}

/** A service can have more; these are enough for an overview. */
const MAX_ACCOUNTS = 20;
const MAX_CONTAINERS = 20_000;

/** The clusters of the service that the newest run uses, and the pools of the home, with their load. */
export async function describeClusters(context: Context): Promise<Reply> {
  const pools = await describePools(context);
  const [newest] = await context.list.read();
  if (newest === undefined) return { clusters: [], pools };
  try {
    return { clusters: await readClusters(await context.openService(newest.runId)), pools };
  } catch (error) {
    if (!isServiceError(error) && !(error instanceof ApiError)) throw error;
    return { clusters: [], message: error.message, pools };
  }
}

async function readClusters(service: ContainerService): Promise<Reply['clusters']> {
  const accounts = await service.discovery.listAccounts('-');
  const types = await service.discovery.listInstanceTypes('-');
  const clusters: Reply['clusters'] = [];
  for (const { clusterID, accountID } of accounts.slice(0, MAX_ACCOUNTS)) {
    const containers: Record<string, number> = {};
    let count = 0;
    for await (const { phase = 'Unknown' } of service.containers.list({ clusterID, accountID })) {
      containers[phase] = (own(containers, phase) ?? 0) + 1;
      count += 1;
      if (count >= MAX_CONTAINERS) break;
    }
    const instanceTypes = types
      .filter((type) => type.clusterID === clusterID)
      .map(({ id, cpu, memory, gpu }) => ({
        ...{ id, cpu: cpu.cores, memoryGB: memory.sizeGB },
        ...optional('gpu', gpu?.count),
      }));
    clusters.push({ clusterId: clusterID, accountId: accountID, instanceTypes, containers });
  }
  return clusters;
}

async function describePools(context: Context): Promise<Reply['pools']> {
  const uses = await listPoolUse(context.home);
  const sizes = new Map<string, number>();
  for (const { runId, status } of await context.list.read()) {
    if (status !== 'running') continue;
    const run = await context.followers.read(runId).catch(() => undefined);
    const declared = run === undefined ? {} : run.model.facts.plan.pipeline.pools;
    for (const [name, size] of Object.entries(declared)) sizes.set(name, Math.max(size, sizes.get(name) ?? 0));
  }
  return [...new Set([...uses.keys(), ...sizes.keys()])].sort().map((name) => {
    const { used, waiting } = uses.get(name) ?? { used: 0, waiting: 0 };
    return { name, ...optional('size', sizes.get(name)), used, waiting };
  });
}
