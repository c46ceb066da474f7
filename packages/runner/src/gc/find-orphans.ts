import path from 'node:path';
import { type Container, type ContainerService, isServiceError, isTerminalPhase, type Scope } from '@sluice/client';
import { containerId } from '../identity/container-id.ts';
import { readLabels } from '../identity/labels.ts';
import type { Disk } from '../journal/disk.ts';
import { createSystemDisk } from '../journal/system-disk.ts';
import { listRuns } from '../report/list-runs.ts';

/** A container with our labels that has not ended and that no run of this home will ask for again. */
export interface Orphan {
  readonly containerID: string;
  readonly runId: string;
  readonly step: string;
  readonly cell: string;
  readonly attempt: number;
  readonly phase: string;
  readonly createTime?: string;
  /** `over`: its run is over here. `unknown`: this home has no such run, but another one may. */
  readonly run: 'over' | 'unknown';
}

export interface OrphanOptions {
  readonly service: ContainerService;
  readonly scope: Scope;
  readonly home: string;
  readonly disk?: Disk;
}

/** IDs that can be ours: the rest is not even asked for. */
const OURS = /^s[a-z2-7]{13}-[a-z2-7]{12}-\d+$/;

/** Looks through everything of the account that has not ended; ordered by ID. Throws `ServiceError`. */
export async function findOrphans(options: OrphanOptions): Promise<Orphan[]> {
  const { service, scope, home, disk = createSystemDisk() } = options;
  const live: string[] = [];
  for await (const { id } of service.containers.list(scope)) if (OURS.test(id)) live.push(id);
  // After the list: a run that began since has its record before its containers.
  const runs = new Map((await listRuns(path.resolve(home), disk)).map((run) => [run.runId, run]));
  const orphans: Orphan[] = [];
  for (const id of live.sort()) {
    const run = runs.get(id.slice(1, 14));
    if (run && (run.status === 'active' || run.status === 'suspended')) continue;
    const container = await readLive(service, { ...scope, id });
    const orphan = container && describe(container, run ? 'over' : 'unknown');
    if (orphan) orphans.push(orphan);
  }
  return orphans;
}

/**
 * Cancels orphans of runs that are over here, and of the one run that was named. Never others: they may be another
 * home's. Returns those that were cancelled. Nothing is deleted: the service forgets what has ended by itself.
 */
export async function cancelOrphans(
  options: OrphanOptions,
  { orphans, runId }: { readonly orphans: readonly Orphan[]; readonly runId?: string | undefined },
): Promise<Orphan[]> {
  const canceled: Orphan[] = [];
  for (const orphan of orphans) {
    if (orphan.run !== 'over' && orphan.runId !== runId) continue;
    try {
      await options.service.containers.cancel({ ...options.scope, id: orphan.containerID });
      canceled.push(orphan);
    } catch (error) {
      // It has ended meanwhile.
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

/** Undefined: the labels do not make this ID, so it is not ours. */
function describe(container: Container, run: Orphan['run']): Orphan | undefined {
  const labels = readLabels(container.labels ?? {});
  if (!labels || containerId(labels.name) !== container.id) return undefined;
  const { runId, step, cell, attempt } = labels.name;
  const { phase = 'unknown', createTime } = container;
  return {
    containerID: container.id,
    runId,
    step,
    cell,
    attempt,
    phase,
    ...(createTime !== undefined && { createTime }),
    run,
  };
}
