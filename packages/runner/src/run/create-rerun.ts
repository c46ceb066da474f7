import path from 'node:path';
import type { ContainerService, VolumeFiles } from '@sluice/client';
import { fail, ok, own, type Plan, type Result } from '@sluice/core';
import { checkReuse, encodeLine, readDurations, replayFromHome, serializePlan } from '@sluice/home';
import {
  describeRun,
  type JournalRecord,
  ownVolumePath,
  type ReplayedRun,
  type RunRefusal,
  runVolumePath,
  sourcePath,
  type VolumePlace,
} from '@sluice/run';
import { previewReuse, type StepsOfPreview, sumUpPreview } from '../cache/preview-reuse.ts';
import { openVolume } from '../data/open-volume.ts';
import { findBusyGroup } from '../groups/find-busy-group.ts';
import { findPlacement } from '../placement/find-placement.ts';
import { findMissingSecret } from '../provision/find-missing-secret.ts';
import { resolveImages } from '../provision/resolve-images.ts';
import { refuseServiceErrors } from '../provision/service-refusal.ts';
import { numberEvents } from '../session/number-events.ts';
import { withDefaults } from '../session/run-defaults.ts';
import type { StartRunOptions } from '../session/run-options.ts';
import { createHeader } from './run-header.ts';

/** An ended run whose plan is to be executed again, in a home that may have no pipeline file. */
export interface RerunOptions {
  readonly home: string;
  /** The ID of the ended run. */
  readonly of: string;
  /** Reuse what succeeded, except for these steps and everything downstream. Absent: everything is run. */
  readonly force?: readonly string[];
  readonly service: ContainerService;
}

/** The files of a run that has not begun, as another machine would hand it over. */
export interface RerunFiles {
  readonly 'plan.json': Uint8Array;
  readonly 'journal.ndjson': Uint8Array;
}

/**
 * Which steps a rerun would reuse and which it would run. `checksData`: also asks the service whether the workspace and the
 * uploaded sources still exist.
 */
export async function previewRerun(
  options: RerunOptions,
  { checksData }: { readonly checksData: boolean },
): Promise<Result<StepsOfPreview, RunRefusal>> {
  const home = path.resolve(options.home);
  const read = await readEnded({ ...options, home });
  if (!read.ok) return read;
  const { plan } = read.value.facts;
  const data = checksData ? await refuseServiceErrors(() => openData(options, read.value)) : ok(undefined);
  if (!data.ok) return data;
  const { of, force } = options;
  if (force === undefined) return ok({ reused: [], run: plan.steps.map(({ step }) => step.name) });
  const previewed = await previewReuse({ plan, home, reuse: { runId: of, force } });
  return previewed.ok ? ok(sumUpPreview(previewed.value)) : previewed;
}

/**
 * Creates the files of a run that executes the plan of an ended one again, with its parameters, its sources and its
 * workspace. Writes nothing to the home. Sources are only used if they are still complete in the workspace.
 */
export function createRerun(
  options: RerunOptions & { readonly runId: string },
): Promise<Result<RerunFiles, RunRefusal>> {
  return refuseServiceErrors(() => create({ ...options, home: path.resolve(options.home) }));
}

async function create(options: RerunOptions & { readonly runId: string }): Promise<Result<RerunFiles, RunRefusal>> {
  const read = await readEnded(options);
  if (!read.ok) return read;
  const { facts } = read.value;
  const { plan } = facts;
  const { clusterID, accountID, baseDir, order, scheduler } = facts.header!;
  const { runId, of, force, home, service } = options;
  const given: StartRunOptions = {
    ...{ home, service, plan, baseDir, runId, scope: { clusterID, accountID } },
    parallelism: scheduler.parallelism,
    ...(scheduler.limits && { limits: scheduler.limits }),
    ...(order && { order }),
  };
  const start = numberEvents(withDefaults(given), runId);
  const { disk, clock } = start;
  const reused = force === undefined ? undefined : await checkReuse({ runId: of, force }, start);
  if (reused && !reused.ok) return reused;
  const data = await openData(options, read.value);
  if (!data.ok) return data;
  const placed = await findPlacement(start);
  if (!placed.ok) return placed;
  const { placement, instanceTypes } = placed.value;
  const plannedTime = reused?.value.plannedTime ?? clock.wall();
  const busy = await findBusyGroup(start, plannedTime);
  if (busy !== undefined) return fail(busy);
  const images = await resolveImages({
    ...{ plan, service, placement, instanceTypes, home: start.scope },
    run: describeRun({ runId, plan, plannedTime }),
  });
  const durations = await readDurations(disk, home, plan.pipeline.name);
  const reuse = reused?.value.reuse;
  const header = { runId, plannedTime, placement, instanceTypes, durations, reuse, images, rerunOf: of };
  const volumes = await placeVolumes(data.value, { runId, plan, volumes: facts.volumes });
  return ok({
    'plan.json': serializePlan(plan),
    'journal.ndjson': encodeJournal([createHeader(start, header), { kind: 'volumes', volumes }]),
  });
}

async function readEnded({ home, of }: RerunOptions): Promise<Result<ReplayedRun, RunRefusal>> {
  const { disk } = withDefaults({ home });
  const replayed = await replayFromHome(disk, home, of);
  if (!replayed.ok) return replayed;
  const { facts } = replayed.value;
  if (!facts.finished) return fail({ code: 'RUN_IN_USE', message: 'it has not ended' });
  // Their values were deleted at the end of the run.
  const secret = findMissingSecret(facts.plan, () => undefined);
  return secret === undefined ? replayed : fail(secret);
}

/** In the workspace, by the digest of its content. */
const SOURCE_PATH = /^sources\/(\w+)\/files$/;

/** The workspace of the run, if it has one and it still has the run's sources. Throws `ServiceError`. */
async function openData(
  { home, service }: Pick<RerunOptions, 'home' | 'service'>,
  { facts }: ReplayedRun,
): Promise<Result<VolumeFiles | undefined, RunRefusal>> {
  const workspace = own(facts.volumes, '');
  if (workspace === undefined) return ok(undefined);
  const { volumeID } = workspace;
  const { clusterID, accountID } = facts.header!;
  const volume = { clusterId: clusterID, accountId: accountID, volumeId: volumeID };
  const opened = await openVolume({ home, service, volume });
  if (!opened.ok) return fail({ code: 'HOME_UNUSABLE', message: opened.error });
  if (!(await isAvailable(service, { clusterID, accountID, id: volumeID }))) {
    return fail({ code: 'SOURCE_MISSING', message: `its workspace ${volumeID} no longer exists` });
  }
  for (const [name, { source }] of Object.entries(facts.plan.pipeline.volumes)) {
    if (source === undefined) continue;
    const digest = SOURCE_PATH.exec(own(facts.volumes, name)?.path ?? '')?.[1];
    const mark = digest === undefined ? undefined : await opened.value.stat(sourcePath(digest).mark);
    if (mark !== undefined) continue;
    return fail({ code: 'SOURCE_MISSING', message: `the uploaded source of volume ${name} no longer exists` });
  }
  return ok(opened.value);
}

async function isAvailable(
  service: ContainerService,
  { id, ...scope }: { readonly clusterID: string; readonly accountID: string; readonly id: string },
): Promise<boolean> {
  for await (const volume of service.volumes.list(scope)) if (volume.id === id) return volume.phase === 'Available';
  return false;
}

/** Those of the ended run, except for volumes that belong to one run. */
async function placeVolumes(
  files: VolumeFiles | undefined,
  { runId, plan, volumes }: { runId: string; plan: Plan; volumes: Readonly<Record<string, VolumePlace>> },
): Promise<Readonly<Record<string, VolumePlace>>> {
  const placed = { ...volumes };
  for (const [name, { id, source, retain }] of Object.entries(plan.pipeline.volumes)) {
    const place = own(volumes, name);
    if (id !== undefined || source !== undefined || place === undefined) continue;
    if (retain) await files?.makeDirectory(ownVolumePath(name));
    else placed[name] = { volumeID: place.volumeID, path: runVolumePath(runId, name) };
  }
  return placed;
}

/** The lines of a process that was killed before it executed anything. */
function encodeJournal(records: readonly JournalRecord[]): Uint8Array {
  const lines = records.map((record, index) => encodeLine({ seq: index + 1, first: 1, epoch: 1, record }));
  return Buffer.from(lines.join(''));
}
