import path from 'node:path';
import { type ContainerService, isServiceError, type VolumeFiles } from '@sluice/client';
import { fail, ok, own, type Result } from '@sluice/core';
import { createSystemClock } from '../clock.ts';
import type { Disk } from '../journal/disk.ts';
import { createSystemDisk } from '../journal/system-disk.ts';
import type { RunRefusal } from '../record/run-refusal.ts';
import { type ReplayedRun, replayFromHome } from '../report/read-run.ts';
import { reportOutputs, reportStepOutputs } from '../report/report-outputs.ts';
import type { OutputReport, PlaceReport } from '../report/run-report.ts';
import type { TransferProgress } from '../trees/count-transfer.ts';
import { openTreeStates } from '../trees/tree-states.ts';
import { findManifest } from './create-manifest.ts';
import { findLogin } from './credentials.ts';
import { deliverOutput } from './deliver-output.ts';
import { refuseChanged } from './refuse-changed.ts';

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
  /** Local directory, which is replaced as a whole; refused if it contains files that Sluice did not write. */
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
  /**
   * Copies an output to a local directory. `name` is that of a declared output, or `STEP.OUTPUT`, or `STEP/CELL.OUTPUT`
   * for one cell. Returns warnings. Throws Node's own errors about local files.
   */
  pull(name: string, target: PullTarget): Promise<Result<string[], RunRefusal>>;
}

/** Reads which outputs a run has; `runId` may be shortened to an unambiguous prefix. */
export async function readOutputs(
  home: string,
  runId: string,
  disk: Disk = createSystemDisk(),
): Promise<Result<RunOutputs, RunRefusal>> {
  const replayed = await replayFromHome(disk, path.resolve(home), runId);
  if (!replayed.ok) return replayed;
  const run = replayed.value;
  const outputs = reportOutputs(run);
  const steps = reportStepOutputs(run);
  return ok({
    runId: run.runId,
    names: Object.keys(outputs),
    steps,
    async pull(name, target) {
      const output = own(outputs, name) ?? findStepOutput(steps, name);
      if (output) return pullFrom(run, { ...target, name, output, disk, home: path.resolve(home) });
      const names = Object.keys(outputs).join(', ') || 'none';
      return fail({ code: 'SOURCE_MISSING', message: `run ${run.runId} has no output ${name}; it has ${names}` });
    },
  });
}

/**
 * Copies an output of a run to a local directory, even if the run has not ended. Returns warnings. Throws Node's own
 * errors about local files.
 */
export async function pullOutput(options: PullOptions): Promise<Result<string[], RunRefusal>> {
  const outputs = await readOutputs(options.home, options.runId, options.disk);
  return outputs.ok ? outputs.value.pull(options.output, options) : outputs;
}

/** The output that `STEP.OUTPUT` names, or as `STEP/CELL.OUTPUT` its part from one cell, which has no manifest. */
function findStepOutput(steps: readonly OutputReport[], name: string): OutputReport | undefined {
  for (const found of steps) {
    const { step, output, places } = found;
    if (`${step}.${output}` === name) return found;
    const place = places.find(({ cell }) => cell !== '' && `${step}/${cell}.${output}` === name);
    if (place !== undefined) return { step, output, places: [{ ...place, cell: '' }] };
  }
  return undefined;
}

interface Pull extends PullTarget {
  readonly name: string;
  readonly output: OutputReport;
  readonly disk: Disk;
  readonly home: string;
}

async function pullFrom(run: ReplayedRun, pull: Pull): Promise<Result<string[], RunRefusal>> {
  const { service, name, output, disk, home, to, onProgress } = pull;
  const volumes = new Map<string, VolumeFiles>();
  for (const { clusterID, accountID, volumeID } of output.places) {
    if (volumes.has(volumeID)) continue;
    const login = await findLogin({ disk, home, clock: createSystemClock() }, volumeID);
    if (login === undefined) {
      return fail({ code: 'SERVICE_REFUSED', message: `this home has no login to volume ${volumeID}` });
    }
    volumes.set(volumeID, service.volumes.files({ clusterID, accountID, id: volumeID }, login));
  }
  const published = { places: output.places, files: ({ volumeID }: PlaceReport) => volumes.get(volumeID)! };
  try {
    await refuseChanged(openTreeStates({ disk, home }), published);
    const done = await deliverOutput({
      ...published,
      // One cell alone has none, as a plain step.
      manifest: output.places[0]?.cell === '' ? undefined : findManifest(run, output),
      to: path.resolve(to),
      marker: { run: run.runId, pipeline: run.facts.plan.pipeline.name, output: name },
      now: Date.now(),
      around: [home],
      ...(onProgress === undefined ? {} : { onProgress }),
    });
    if (done.ok) return done;
    return fail({ code: 'TARGET_REFUSED', message: `could not copy output ${name} to ${to}: ${done.error}` });
  } catch (error) {
    if (!isServiceError(error)) throw error;
    const away = isServiceError(error, 'UNREACHABLE', 'NO_REPLY', 'UNAVAILABLE');
    return fail({ code: away ? 'SERVICE_UNREACHABLE' : 'SERVICE_REFUSED', message: error.message });
  }
}
