import { hostname } from 'node:os';
import type { ContainerService, VolumeFiles } from '@sluice/client';
import { fail, ok, own, type Plan, type Result } from '@sluice/core';
import {
  type Clock,
  checkReuse,
  encodeLine,
  readDurations,
  type StoredSummary,
  serializePlan,
  summarize,
} from '@sluice/home';
import {
  applyRecord,
  clustersOf,
  createRunFacts,
  describeRun,
  type JournalRecord,
  ownVolumePath,
  type Reuse,
  type RunError,
  runVolumePath,
  sourcePath,
  type VolumePlace,
} from '@sluice/run';
import { findBusyGroup } from '../concurrency/find-busy-group.ts';
import { openVolume } from '../data/open-volume.ts';
import { namedById, needsWorkspace } from '../data/prepare-volumes.ts';
import { findPlacement } from '../placement/find-placement.ts';
import { numberEvents } from '../session/number-events.ts';
import { withDefaults } from '../session/run-defaults.ts';
import type { StartRunOptions } from '../session/run-options.ts';
import { resolveImages } from './resolve-images.ts';
import { createHeader } from './run-header.ts';

/** Where the data of a run is that no process of this machine has uploaded. */
export interface RunData {
  /** The workspace; absent if the plan needs none. The home has its login. */
  readonly workspaceId?: string;
  /** By the names of the volumes: the digests of the uploaded sources. */
  readonly sources: Readonly<Record<string, string>>;
  /** By the names of the volumes: the digests of parts of the uploaded sources, by path. */
  readonly parts?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/** A run that a server is to execute. */
export interface RunFilesOptions
  extends Pick<
    StartRunOptions,
    'home' | 'service' | 'scope' | 'plan' | 'baseDir' | 'order' | 'limits' | 'parallelism' | 'clock' | 'disk'
  > {
  readonly runId: string;
  readonly data: RunData;
  readonly reuse?: Reuse;
  /** The earlier run whose plan this one repeats. */
  readonly rerunOf?: string;
}

/** What a run consists of before it begins. */
export interface RunFiles {
  readonly 'plan.json': Uint8Array;
  readonly 'journal.ndjson': Uint8Array;
  readonly summary: StoredSummary;
  /** The cells that are known; one for a step whose cells are not. */
  readonly cells: number;
}

/**
 * Creates the files of a run, as a process leaves them that was killed before it executed anything. Writes nothing to the
 * home. Sources are only used if they are still complete in the workspace. Throws `ServiceError`.
 */
export async function createRunFiles(options: RunFilesOptions): Promise<Result<RunFiles, RunError>> {
  const { runId, plan, service, data, rerunOf } = options;
  const start = numberEvents(withDefaults<StartRunOptions>(options), runId);
  const { disk, clock, home } = start;
  const reused = options.reuse && (await checkReuse(options.reuse, start));
  if (reused && !reused.ok) return reused;
  const opened = await openRunData(options);
  if (!opened.ok) return opened;
  const placed = await findPlacement(start);
  if (!placed.ok) return placed;
  const { placement, instanceTypes } = placed.value;
  const elsewhere = clustersOf({ clusterID: start.scope.clusterID, placement }).find(
    (clusterID) => clusterID !== start.scope.clusterID,
  );
  if (elsewhere !== undefined) {
    const message = `its steps run on cluster ${elsewhere} too, and a server executes only runs of one cluster`;
    return fail({ code: 'NO_INSTANCE_TYPE', message });
  }
  const plannedTime = reused?.value.plannedTime ?? clock.wall();
  const busy = await findBusyGroup(start, plannedTime);
  if (busy !== undefined) return fail(busy);
  const images = await resolveImages({
    ...{ plan, service, placement, instanceTypes, home: start.scope },
    run: describeRun({ runId, plan, plannedTime }),
  });
  const durations = await readDurations(disk, home, plan.pipeline.name);
  const reuse = reused?.value.reuse;
  const found = { runId, plannedTime, placement, instanceTypes, durations, reuse, images };
  const header = createHeader(start, { ...found, ...(rerunOf !== undefined && { rerunOf }) });
  const facts = createRunFacts(plan);
  applyRecord(facts, header);
  const volumes = await placeVolumes(opened.value, { runId, plan, data });
  return ok({
    'plan.json': serializePlan(plan),
    'journal.ndjson': encodeJournal([describeOpening(clock), header, { kind: 'volumes', volumes }]),
    summary: summarize(facts),
    cells: countKnownCells(plan),
  });
}

/** The files of the workspace, if there is one and it has the run's sources. Throws `ServiceError`. */
export async function openRunData({
  home,
  service,
  scope,
  plan,
  disk,
  data: { workspaceId, sources },
}: Pick<RunFilesOptions, 'home' | 'service' | 'scope' | 'plan' | 'disk' | 'data'>): Promise<
  Result<VolumeFiles | undefined, RunError>
> {
  if (workspaceId === undefined) {
    if (!needsWorkspace(plan)) return ok(undefined);
    return fail({ code: 'SOURCE_MISSING', message: 'its steps have data, and it names no workspace' });
  }
  const { clusterID, accountID } = scope;
  const volume = { clusterId: clusterID, accountId: accountID, volumeId: workspaceId };
  const opened = await openVolume({ home, service, volume, ...(disk && { disk }) });
  if (!opened.ok) return fail({ code: 'HOME_UNUSABLE', message: opened.error });
  if (!(await isAvailable(service, { clusterID, accountID, id: workspaceId }))) {
    return fail({ code: 'SOURCE_MISSING', message: `its workspace ${workspaceId} no longer exists` });
  }
  for (const [name, { source }] of Object.entries(plan.pipeline.volumes)) {
    if (source === undefined) continue;
    const digest = own(sources, name);
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

async function placeVolumes(
  files: VolumeFiles | undefined,
  { runId, plan, data }: { readonly runId: string; readonly plan: Plan; readonly data: RunData },
): Promise<Readonly<Record<string, VolumePlace>>> {
  const named = namedById(plan);
  const { workspaceId: volumeID } = data;
  if (volumeID === undefined) return named;
  const placed: Record<string, VolumePlace> = { '': { volumeID, path: '' }, ...named };
  for (const [name, { id, source, retain }] of Object.entries(plan.pipeline.volumes)) {
    if (id !== undefined) continue;
    if (source !== undefined) {
      const digest = own(data.sources, name)!;
      const parts = own(data.parts, name);
      placed[name] = { volumeID, path: sourcePath(digest).files, digest, ...(parts && { parts }) };
    } else if (retain) {
      await files?.makeDirectory(ownVolumePath(name));
      placed[name] = { volumeID, path: ownVolumePath(name) };
    } else placed[name] = { volumeID, path: runVolumePath(runId, name) };
  }
  return placed;
}

/** The cells of a plan that are known; one for a step whose cells are not. */
export function countKnownCells(plan: Plan): number {
  return plan.steps.reduce((sum, { cells }) => sum + (cells?.length ?? 1), 0);
}

/** The time of the run continues from the uptime of this record, even if the machine's clock is set in between. */
function describeOpening(clock: Clock): JournalRecord {
  const boot = clock.boot();
  return { kind: 'opened', at: clock.now(), epoch: 1, host: hostname(), pid: process.pid, ...(boot && { boot }) };
}

function encodeJournal(records: readonly JournalRecord[]): Uint8Array {
  const lines = records.map((record, index) => encodeLine({ seq: index + 1, first: 1, epoch: 1, record }));
  return Buffer.from(lines.join(''));
}
