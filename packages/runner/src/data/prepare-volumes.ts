import type { VolumeFiles } from '@sluice/client';
import { fail, ok, type Plan, type Result } from '@sluice/core';
import type { VolumePlace } from '../journal/journal-record.ts';
import type { SurroundingsOptions } from '../run/prepare-surroundings.ts';
import type { RunRefusal } from '../run/run-options.ts';
import { ownVolumePath } from './layout.ts';
import { findLogin, openWorkspace } from './open-workspace.ts';
import { uploadSource } from './upload-source.ts';

export interface PreparedVolumes {
  /** By the pipeline's name; `''` is the workspace. */
  readonly volumes: Readonly<Record<string, VolumePlace>>;
  readonly workspace: () => VolumeFiles;
}

/** Makes the workspace where the pipeline needs one, and brings in the named volumes. */
export async function prepareVolumes(options: SurroundingsOptions): Promise<Result<PreparedVolumes, RunRefusal>> {
  if (options.frozen) return reopenVolumes(options, options.frozen);
  const { plan, service, scope } = options;
  if (!needsWorkspace(plan)) return ok({ volumes: namedByID(plan), workspace: noWorkspace });
  const opened = await openWorkspace({ ...options, pipeline: plan.pipeline.name });
  if (!opened.ok) return opened;
  const { volumeID, login } = opened.value;
  const files = service.volumes.files({ ...scope, id: volumeID }, login);
  const volumes: Record<string, VolumePlace> = { '': { volumeID, path: '' }, ...namedByID(plan) };
  for (const [name, volume] of Object.entries(plan.pipeline.volumes)) {
    if (volume.id !== undefined) continue;
    if (volume.source === undefined) {
      await files.makeDirectory(ownVolumePath(name));
      volumes[name] = { volumeID, path: ownVolumePath(name) };
      continue;
    }
    const uploaded = await uploadSource({ ...options, files, name, source: volume.source });
    if (!uploaded.ok) return uploaded;
    volumes[name] = { volumeID, ...uploaded.value };
  }
  return ok({ volumes, workspace: () => files });
}

async function reopenVolumes(
  options: SurroundingsOptions,
  volumes: Readonly<Record<string, VolumePlace>>,
): Promise<Result<PreparedVolumes, RunRefusal>> {
  const workspace = volumes[''];
  if (!workspace) return ok({ volumes, workspace: noWorkspace });
  const login = await findLogin(options, workspace.volumeID);
  if (!login) {
    const message = `the login of workspace ${workspace.volumeID} is not in ${options.home}`;
    return fail({ code: 'HOME_UNUSABLE', message });
  }
  const files = options.service.volumes.files({ ...options.scope, id: workspace.volumeID }, login);
  return ok({ volumes, workspace: () => files });
}

function needsWorkspace(plan: Plan): boolean {
  const hasOwn = Object.values(plan.pipeline.volumes).some((volume) => volume.id === undefined);
  return (
    hasOwn ||
    plan.steps.some(({ step }) => Object.keys(step.outputs).length > 0 || Object.keys(step.results).length > 0)
  );
}

function namedByID(plan: Plan): Record<string, VolumePlace> {
  const named = Object.entries(plan.pipeline.volumes).flatMap(([name, { id }]) =>
    id === undefined ? [] : [[name, { volumeID: id, path: '' }] as const],
  );
  return Object.fromEntries(named);
}

function noWorkspace(): never {
  throw new Error('the run has no workspace volume');
}
