import path from 'node:path';
import { type ContainerService, isServiceError, type VolumeFiles } from '@sluice/client';
import { describeUnknown, fail, ok, own, type Result } from '@sluice/core';
import { createSystemDisk, type Disk, replayFromHome } from '@sluice/home';
import {
  type OutputLocation,
  type OutputReport,
  type RemovedOutput,
  type ReplayedRun,
  type RunError,
  reportOutputs,
  reportRemovedOutputs,
  reportStepOutputs,
} from '@sluice/run';
import type { TransferProgress } from '../trees/count-transfer.ts';
import { deliverFile } from '../trees/deliver-file.ts';
import { openTreeStates } from '../trees/tree-states.ts';
import { findManifest } from './create-manifest.ts';
import { deliverOutput } from './deliver-output.ts';
import { findPart, type PublishedOutput } from './find-part.ts';
import { openVolume } from './open-volume.ts';
import { rejectChanged } from './reject-changed.ts';

/** An output of a run, and where it is copied to. */
export interface PullOptions extends PullTarget {
  readonly home: string;
  /** May be shortened to an unambiguous prefix. */
  readonly runId: string;
  /** As for `RunOutputs.pull`. */
  readonly output: string;
  /** Default: the machine's file system. */
  readonly disk?: Disk;
}

/** Where an output is copied to, and by which service. */
export interface PullTarget {
  /** The service on which the run was executed. */
  readonly service: ContainerService;
  /**
   * Local directory, which is replaced as a whole; rejected if it contains files that Sluice did not write. For one file, the
   * local file; rejected if it exists with other content.
   */
  readonly to: string;
  /** Called repeatedly during the copy, and at its end with `done`. */
  readonly onProgress?: (progress: TransferProgress) => void;
}

/** The outputs that a run has produced so far; its journal is read once for all of them. */
export interface RunOutputs {
  readonly runId: string;
  /** Of the declared outputs whose step has succeeded. */
  readonly names: readonly string[];
  /** The outputs of all steps. */
  readonly steps: readonly OutputReport[];
  /** The temporary outputs that no longer exist. */
  readonly removed: readonly RemovedOutput[];
  /**
   * Copies an output to a local directory. `name` is that of a declared output, or `STEP.OUTPUT`, or `STEP/CELL.OUTPUT`
   * for one cell. With `/PATH` after these, it copies a directory or a file of the output. Returns warnings. Throws Node's
   * own errors about local files.
   */
  pull(name: string, target: PullTarget): Promise<Result<string[], RunError>>;
}

/** As `RunOutputs`, with what only the end of a run does. */
export interface PublishableOutputs extends RunOutputs {
  /** As `pull`, for a declared output; a directory with another output of this run is rejected. */
  publish(name: string, target: PullTarget): Promise<Result<string[], RunError>>;
}

/** Reads which outputs a run has; `runId` may be shortened to an unambiguous prefix. */
export function readOutputs(home: string, runId: string, disk?: Disk): Promise<Result<RunOutputs, RunError>> {
  return readPublishable(home, runId, disk);
}

/** As `readOutputs`, for a caller that publishes the outputs. */
export async function readPublishable(
  home: string,
  runId: string,
  disk: Disk = createSystemDisk(),
): Promise<Result<PublishableOutputs, RunError>> {
  const replayed = await replayFromHome(disk, path.resolve(home), runId);
  if (!replayed.ok) return replayed;
  const run = replayed.value;
  const outputs = reportOutputs(run);
  const steps = reportStepOutputs(run);
  const removed = reportRemovedOutputs(run);
  async function copy(name: string, target: PullTarget, publishes: boolean): Promise<Result<string[], RunError>> {
    const [, whole = name, below = ''] = /^([^.]+\.[^/.]+)\/(.*?)\/*$/s.exec(name) ?? [];
    const output = own(outputs, name) ?? findStepOutput(steps, whole);
    if (output) {
      const part = [output.path ?? '', below].filter((one) => one !== '').join('/');
      return pullFrom(run, { ...target, name, output, below: part, disk, home: path.resolve(home), publishes });
    }
    if (removed.some((one) => [`${one.step}.${one.output}`, `${one.step}/${one.cell}.${one.output}`].includes(whole))) {
      const message = `run ${run.runId} no longer has output ${whole}: it is temporary, and was removed when no cell needed it`;
      return fail({ code: 'SOURCE_MISSING', message });
    }
    const names = [...Object.keys(outputs), ...steps.map((one) => `${one.step}.${one.output}`)];
    const unknown = describeUnknown(whole, names);
    return fail({ code: 'SOURCE_MISSING', message: `run ${run.runId} has no output ${unknown}` });
  }
  return ok({
    runId: run.runId,
    names: Object.keys(outputs),
    steps,
    removed,
    pull: (name, target) => copy(name, target, false),
    publish: (name, target) => copy(name, target, true),
  });
}

/**
 * Copies an output of a run to a local directory, even if the run has not ended. Returns warnings. Throws Node's own
 * errors about local files.
 */
export async function pullOutput(options: PullOptions): Promise<Result<string[], RunError>> {
  const outputs = await readOutputs(options.home, options.runId, options.disk);
  return outputs.ok ? outputs.value.pull(options.output, options) : outputs;
}

/** The output that `STEP.OUTPUT` names, or as `STEP/CELL.OUTPUT` its part from one cell, which has no manifest. */
function findStepOutput(steps: readonly OutputReport[], name: string): OutputReport | undefined {
  for (const found of steps) {
    const { step, output, locations } = found;
    if (`${step}.${output}` === name) return found;
    const place = locations.find(({ cell }) => cell !== '' && `${step}/${cell}.${output}` === name);
    if (place !== undefined) return { step, output, locations: [{ ...place, cell: '' }] };
  }
  return undefined;
}

interface Pull extends PullTarget {
  readonly name: string;
  readonly output: OutputReport;
  /** Path in the output; empty for all of it. */
  readonly below: string;
  readonly disk: Disk;
  readonly home: string;
  /** As for `deliverTree`. */
  readonly publishes: boolean;
}

async function pullFrom(run: ReplayedRun, pull: Pull): Promise<Result<string[], RunError>> {
  const { service, output, disk, home } = pull;
  const volumes = new Map<string, VolumeFiles>();
  for (const { clusterId, accountId, volumeId } of output.locations) {
    if (volumes.has(volumeId)) continue;
    const opened = await openVolume({ home, service, disk, volume: { clusterId, accountId, volumeId } });
    if (!opened.ok) return fail({ code: 'SERVICE_REJECTED', message: opened.error });
    volumes.set(volumeId, opened.value);
  }
  const published = {
    locations: output.locations,
    // One cell alone has none, as a plain step.
    manifest: output.locations[0]?.cell === '' ? undefined : findManifest(run, output),
    files: ({ volumeId }: OutputLocation) => volumes.get(volumeId)!,
  };
  try {
    await rejectChanged(openTreeStates({ disk, home }), published);
    return await deliverPart(run, published, pull);
  } catch (error) {
    if (!isServiceError(error)) throw error;
    const away = isServiceError(error, 'UNREACHABLE', 'NO_REPLY', 'UNAVAILABLE');
    return fail({ code: away ? 'SERVICE_UNREACHABLE' : 'SERVICE_REJECTED', message: error.message });
  }
}

async function deliverPart(
  run: ReplayedRun,
  published: PublishedOutput,
  { name, below, to, home, publishes, onProgress }: Pull,
): Promise<Result<string[], RunError>> {
  const part = below === '' ? ok({ kind: 'dir', output: published } as const) : await findPart(published, below);
  if (!part.ok) return fail({ code: 'SOURCE_MISSING', message: `could not copy ${name}: ${part.error}` });
  const target = { to: path.resolve(to), now: Date.now(), ...(onProgress !== undefined && { onProgress }) };
  const marker = { runId: run.runId, pipeline: run.facts.plan.pipeline.name, output: name };
  const done =
    part.value.kind === 'file'
      ? await deliverFile({ ...target, ...part.value })
      : await deliverOutput({ ...target, ...part.value.output, marker, around: [home], publishes });
  if (done.ok) return done;
  return fail({ code: 'TARGET_REJECTED', message: `could not copy output ${name} to ${to}: ${done.error}` });
}
