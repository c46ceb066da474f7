import path from 'node:path';
import { type ContainerService, isServiceError, type VolumeFiles } from '@sluice/client';
import { CUSTODY_FILE, type HomePlace, readSummary, runDirectory, writeSummary } from '@sluice/home';
import { runPath } from '@sluice/run';
import { findLogin } from '../data/credentials.ts';
import { measureVolume } from '../trees/measure-volume.ts';
import type { RunRecord } from './read-run-records.ts';

/** The home of a run, and the service with its volumes. */
export type RemovalPlace = HomePlace & { readonly service: ContainerService };

/** Undefined: one of its volumes does not answer. */
export async function measureRun(options: RemovalPlace, run: RunRecord): Promise<number | undefined> {
  const directory = runDirectory(options.home, run.runId);
  let { bytes } = await options.disk.measure(directory);
  // What the garbage collection itself has written does not count.
  bytes -= (await options.disk.measure(`${directory}/${CUSTODY_FILE}`)).bytes;
  try {
    for (const files of await openRunFiles(options, run))
      bytes += (await measureVolume(files, runPath(run.runId))).bytes;
    return bytes;
  } catch (error) {
    if (!isServiceError(error)) throw error;
    return undefined;
  }
}

/** The files of the volumes with its outputs. */
export async function openRunFiles(options: RemovalPlace, { workspaces }: RunRecord): Promise<VolumeFiles[]> {
  const opened: VolumeFiles[] = [];
  for (const { volumeID: id, clusterID, accountID } of workspaces) {
    const login = await findLogin(options, id);
    if (login) opened.push(options.service.volumes.files({ clusterID, accountID, id }, login));
  }
  return opened;
}

/**
 * Removes the data and then the record of a run that is marked as removed. `scheduled` are the runs of schedules. Its
 * summary and the mark are removed last, so that a later collection continues. Returns a message if the run could not be
 * removed completely.
 */
export async function removeRun(
  options: RemovalPlace,
  run: RunRecord,
  scheduled: ReadonlySet<string>,
): Promise<string | undefined> {
  const { disk, home, clock } = options;
  try {
    for (const files of await openRunFiles(options, run)) await files.remove(runPath(run.runId));
  } catch (error) {
    if (!isServiceError(error)) throw error;
    return describeAway(run);
  }
  const directory = runDirectory(home, run.runId);
  for (const name of await disk.list(directory)) {
    if (name !== 'summary.json' && name !== CUSTODY_FILE) await disk.remove(path.join(directory, name));
  }
  const summary = scheduled.has(run.runId) ? await readSummary(disk, directory) : undefined;
  // A schedule starts the recorded runs that do not exist, so the summaries of its runs are kept.
  if (summary) {
    await writeSummary(disk, directory, { ...summary, collectedAt: clock.wall() });
    await disk.remove(path.join(directory, CUSTODY_FILE));
  } else await disk.remove(directory);
  return undefined;
}

/** What to say about a run that could not be removed, because its volume does not answer. */
export function describeAway(run: RunRecord): string {
  return `could not remove run ${run.runId}: ${describeAbsence(run)}`;
}

/** Why a run cannot be removed whose volume does not answer. */
export function describeAbsence({ workspaces }: RunRecord): string {
  return `its volume ${workspaces.map(({ volumeID }) => volumeID).join(', ')} does not answer`;
}
