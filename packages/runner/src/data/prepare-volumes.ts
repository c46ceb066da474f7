import type { Scope, VolumeFiles } from '@sluice/client';
import { fail, ok, own, type Plan, type Result, type ServiceStep } from '@sluice/core';
import { clustersOf, ownVolumePath, type RunError, runVolumePath, type VolumePlace, workspaceName } from '@sluice/run';
import type { ProvisionOptions } from '../session/provision-options.ts';
import { findLogin } from './credentials.ts';
import { type OpenWorkspace, openWorkspace } from './open-workspace.ts';
import { uploadSource } from './upload-source.ts';

/** Access to the files of the run's workspace on a cluster. Throws if the run has none there. */
export type WorkspaceFiles = (clusterID: string) => VolumeFiles;

/** The volumes of a run. */
export interface PreparedVolumes {
  /** By the pipeline's name; `''` is the workspace. */
  readonly volumes: Readonly<Record<string, VolumePlace>>;
  readonly workspace: WorkspaceFiles;
}

/** Creates the workspaces if the pipeline needs them, and uploads the sources. Throws `ServiceError`. */
export async function prepareVolumes(options: ProvisionOptions): Promise<Result<PreparedVolumes, RunError>> {
  if (options.frozen) return reopenVolumes(options, options.frozen);
  const { plan, service, scope } = options;
  if (!needsWorkspace(plan)) return ok({ volumes: namedById(plan), workspace: noWorkspace });
  const opened = await openOn(options, scope);
  if (!opened.ok) return opened;
  const { volumeID, login } = opened.value;
  const files = service.volumes.files({ ...scope, id: volumeID }, login);
  const volumes: Record<string, VolumePlace> = { '': { volumeID, path: '' }, ...namedById(plan) };
  for (const [name, volume] of Object.entries(plan.pipeline.volumes)) {
    if (volume.id !== undefined) continue;
    if (volume.source === undefined && !volume.retain) {
      // Created by the first container that mounts it, so that a rejected run leaves nothing behind.
      volumes[name] = { volumeID, path: runVolumePath(options.runId, name) };
      continue;
    }
    if (volume.source === undefined) {
      await files.makeDirectory(ownVolumePath(name));
      volumes[name] = { volumeID, path: ownVolumePath(name) };
      continue;
    }
    const { source, exclude } = volume;
    const uploaded = await uploadSource({ ...options, files, volumeID, name, source, ...(exclude && { exclude }) });
    if (!uploaded.ok) return uploaded;
    volumes[name] = { volumeID, ...uploaded.value };
  }
  const elsewhere = await openElsewhere(options, volumes);
  return elsewhere.ok ? ok({ volumes, workspace: filesOn(scope.clusterID, files, elsewhere.value) }) : elsewhere;
}

function openOn(options: ProvisionOptions, scope: Scope): Promise<Result<OpenWorkspace, RunError>> {
  const volumeID = own(options.workspaces, scope.clusterID);
  return openWorkspace({ ...options, scope, pipeline: options.plan.pipeline.name, ...(volumeID && { volumeID }) });
}

/** Opens the workspaces on the other clusters on which the run's steps may run, and adds them to `volumes`. */
async function openElsewhere(
  options: ProvisionOptions,
  volumes: Record<string, VolumePlace>,
): Promise<Result<ReadonlyMap<string, VolumeFiles>, RunError>> {
  const { service, scope: home, placement } = options;
  const files = new Map<string, VolumeFiles>();
  for (const [clusterID, accountID] of Object.entries(placement?.accounts ?? {})) {
    if (clusterID === home.clusterID) continue;
    const scope = { clusterID, accountID };
    const opened = await openOn(options, scope);
    if (!opened.ok) return opened;
    const { volumeID, login } = opened.value;
    volumes[workspaceName(home.clusterID, clusterID)] = { volumeID, path: '' };
    files.set(clusterID, service.volumes.files({ ...scope, id: volumeID }, login));
  }
  return ok(files);
}

function filesOn(home: string, own: VolumeFiles, elsewhere: ReadonlyMap<string, VolumeFiles>): WorkspaceFiles {
  return (clusterID) => {
    const files = clusterID === home ? own : elsewhere.get(clusterID);
    if (!files) throw new Error(`the run has no workspace on cluster ${clusterID}`);
    return files;
  };
}

async function reopenVolumes(
  options: ProvisionOptions,
  volumes: Readonly<Record<string, VolumePlace>>,
): Promise<Result<PreparedVolumes, RunError>> {
  const { service, scope: home, placement } = options;
  if (!volumes['']) return ok({ volumes, workspace: noWorkspace });
  const reopened = new Map<string, VolumeFiles>();
  for (const clusterID of clustersOf({ clusterID: home.clusterID, placement })) {
    const { volumeID } = own(volumes, workspaceName(home.clusterID, clusterID))!;
    const login = await findLogin(options, volumeID);
    if (!login) {
      return fail({ code: 'HOME_UNUSABLE', message: `the login of workspace ${volumeID} is not in ${options.home}` });
    }
    const accountID = own(placement?.accounts, clusterID) ?? home.accountID;
    reopened.set(clusterID, service.volumes.files({ clusterID, accountID, id: volumeID }, login));
  }
  return ok({ volumes, workspace: filesOn(home.clusterID, reopened.get(home.clusterID)!, reopened) });
}

/** Whether a run of the plan has data of its own. */
export function needsWorkspace(plan: Plan): boolean {
  const hasOwn = Object.values(plan.pipeline.volumes).some((volume) => volume.id === undefined);
  return (
    hasOwn ||
    plan.steps.some(
      ({ step }) =>
        Object.keys(step.outputs).length > 0 || Object.keys(step.results).length > 0 || signalsReady(step.service),
    )
  );
}

function signalsReady(service: ServiceStep | undefined): boolean {
  return service?.ready !== undefined && 'command' in service.ready;
}

/** The places of the volumes that the pipeline names by their IDs. */
export function namedById(plan: Plan): Record<string, VolumePlace> {
  const named = Object.entries(plan.pipeline.volumes).flatMap(([name, { id }]) =>
    id === undefined ? [] : [[name, { volumeID: id, path: '' }] as const],
  );
  return Object.fromEntries(named);
}

function noWorkspace(): never {
  throw new Error('the run has no workspace volume');
}
