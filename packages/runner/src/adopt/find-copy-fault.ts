import path from 'node:path';
import type { ContainerService } from '@sluice/client';
import { createSystemClock, createSystemDisk, findLastTime, readRunFiles } from '@sluice/home';
import { clustersOf, replayFiles, scopeOn } from '@sluice/run';
import { FORGOTTEN_AFTER_MS } from '../submission/submit-attempt.ts';
import { findRunContainers } from '../watch/find-run-containers.ts';

/** A run of which a server has the journal, and this home an older copy. */
interface CopiedRun {
  readonly home: string;
  readonly runId: string;
  readonly service: ContainerService;
}

const DAY_MS = 86_400_000;

/**
 * Why continuing a run from an older copy of its journal could start a container twice; undefined if it cannot. A service
 * that has containers of the run, and has kept all that were started since, finds each of them by its ID. Throws
 * `ServiceError`.
 */
export async function findCopyFault({ home, runId, service }: CopiedRun): Promise<string | undefined> {
  const files = await readRunFiles(createSystemDisk(), path.resolve(home), runId);
  const replayed = files.ok ? replayFiles(files.value) : files;
  if (!files.ok || !replayed.ok) return replayed.ok ? undefined : replayed.error.message;
  const { facts } = replayed.value;
  const clock = createSystemClock();
  const age = clock.wall() - (findLastTime(files.value.records) ?? 0);
  if (age >= FORGOTTEN_AFTER_MS) {
    return `the last record of this home's copy is ${Math.round(age / DAY_MS)} days old, and a service keeps ended containers for 7 days`;
  }
  const { plan } = files.value;
  for (const cluster of clustersOf(facts.header!)) {
    const found = await findRunContainers(service, { scope: scopeOn(facts, cluster), runId, plan, clock });
    if (found.length > 0) return undefined;
  }
  return 'the service has none of its containers either';
}
