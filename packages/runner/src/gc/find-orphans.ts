import path from 'node:path';
import { type Container, type ContainerService, isServiceError, isTerminalPhase, type Scope } from '@sluice/client';
import { containerId, createSystemDisk, type Disk, listRuns } from '@sluice/home';
import { readLabels } from '../session/labels.ts';

/** A container with our labels that has not ended and that no run of this home will use again. */
export interface Orphan {
  readonly containerId: string;
  readonly runId: string;
  readonly step: string;
  /** `''` for a plain step. */
  readonly cell: string;
  readonly attempt: number;
  /** As the service reports it. */
  readonly phase: string;
  /** ISO 8601, as the service reports it. */
  readonly createTime?: string;
  /** `ended`: its run has ended in this home. `unknown`: this home has no such run, but another home may. */
  readonly run: 'ended' | 'unknown';
}

/** The account to search, and the home whose runs are known. */
export interface OrphanOptions {
  readonly service: ContainerService;
  readonly scope: Scope;
  readonly home: string;
  readonly disk?: Disk;
}

/** The form of our IDs: other containers are not requested. */
const OURS = /^s[a-z2-7]{13}-[a-z2-7]{12}-\d+$/;

/** Searches all containers of the account that have not ended. Ordered by ID. Throws `ServiceError`. */
export async function findOrphans(options: OrphanOptions): Promise<Orphan[]> {
  const { service, scope, home, disk = createSystemDisk() } = options;
  const live: string[] = [];
  for await (const { id } of service.containers.list(scope)) if (OURS.test(id)) live.push(id);
  // After the list of containers: a run that started meanwhile has its record before its first container.
  const runs = new Map((await listRuns(path.resolve(home), disk)).map((run) => [run.runId, run]));
  const orphans: Orphan[] = [];
  for (const id of live.sort()) {
    const run = runs.get(id.slice(1, 14));
    if (run && run.endedAt === undefined) continue;
    const container = await readLive(service, { ...scope, id });
    const orphan = container && describe(container, run ? 'ended' : 'unknown');
    if (orphan) orphans.push(orphan);
  }
  return orphans;
}

/**
 * Cancels orphans of runs that have ended in this home, and of the run `runId`. Never others: they may belong to another
 * home. Returns those that were canceled. Nothing is deleted: the service itself removes ended containers.
 */
export async function cancelOrphans(
  options: OrphanOptions,
  { orphans, runId }: { readonly orphans: readonly Orphan[]; readonly runId?: string | undefined },
): Promise<Orphan[]> {
  const canceled: Orphan[] = [];
  for (const orphan of orphans) {
    if (orphan.run !== 'ended' && orphan.runId !== runId) continue;
    try {
      await options.service.containers.cancel({ ...options.scope, id: orphan.containerId });
      canceled.push(orphan);
    } catch (error) {
      // It ended in the meantime.
      if (!isServiceError(error, 'NOT_FOUND', 'FAILED_PRECONDITION')) throw error;
    }
  }
  return canceled;
}

async function readLive(service: ContainerService, ref: Scope & { readonly id: string }) {
  try {
    const container = await service.containers.get(ref);
    return isTerminalPhase(container.phase ?? '') ? undefined : container;
  } catch (error) {
    if (isServiceError(error, 'NOT_FOUND') && !error.isForeign) return undefined;
    throw error;
  }
}

/** Undefined: the ID is not derived from the labels, so the container is not ours. */
function describe(container: Container, run: Orphan['run']): Orphan | undefined {
  const labels = readLabels(container.labels ?? {});
  if (!labels || containerId(labels.name) !== container.id) return undefined;
  const { runId, step, cell, attempt } = labels.name;
  const { phase = 'unknown', createTime } = container;
  return {
    containerId: container.id,
    runId,
    step,
    cell,
    attempt,
    phase,
    ...(createTime !== undefined && { createTime }),
    run,
  };
}
