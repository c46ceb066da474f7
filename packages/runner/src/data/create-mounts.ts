import {
  fail,
  type Input,
  ok,
  own,
  type Plan,
  type ResolvedContainer,
  type Result,
  type StepSource,
  writesToShared,
} from '@sluice/core';
import {
  attemptOutputPath,
  attemptPath,
  attemptReadyPath,
  attemptResultsPath,
  hasSucceeded,
  isFannedOut,
  locateOutput,
  privateCopyPath,
  publishedPath,
  stepIndex,
  workspaceOn,
} from '@sluice/run';
import { maxMounts } from '../placement/find-mount-fault.ts';
import type { Attempt } from '../session/attempt.ts';
import type { RunSession } from '../session/run-session.ts';
import { absentPath } from './absent-path.ts';
import { findCommonOrigin } from './find-common-origin.ts';
import { READY_MOUNT } from './wrap-readiness.ts';

/** Where a container writes its results. */
export const RESULTS_MOUNT = '/sluice/results';

/** One mount of a container. */
export interface Mount {
  readonly volumeID: string;
  /** Path inside the volume, `''` for all of it. */
  readonly path: string;
  /** The tree that contains `path` and must not change; absent: `path` itself. */
  readonly tree?: string;
  /** Created as a directory if it is absent. */
  readonly create: boolean;
  /** Mount point in the container. */
  readonly at: string;
}

/** A container's mounts in the form of the protocol, and those mount points to which it may write. */
export interface ContainerMounts {
  readonly volumeMounts: Readonly<Record<string, string>>;
  readonly writable: readonly string[];
}

/**
 * The container's volume mounts: its inputs from published places, read-only or as private copies, and its outputs in
 * the attempt's own directory.
 */
export function createMounts(
  session: RunSession,
  { name, ref }: Pick<Attempt, 'name' | 'ref'>,
  container: ResolvedContainer,
): Result<ContainerMounts, string> {
  const workspace = workspaceOn(session.facts, ref.clusterID);
  const mountsOf = (input: ResolvedContainer['inputs'][number]): Mount[] => {
    if (!hasPrivateCopy(input, session.plan.pipeline)) return inputMounts(session, input, ref.clusterID);
    return [{ volumeID: workspace, path: privateCopyPath(name, input.name), create: false, at: input.path }];
  };
  const inputs = container.inputs.map((input): InputMounts => ({ input, mounts: mountsOf(input) }));
  const given = container.inputs.filter(({ writable }) => writable).map(({ path }) => path);
  const outputs = attemptMounts(container, workspace, name);
  const mounts = [...inputs.flatMap((one) => one.mounts), ...outputs];
  const most = maxMounts(session.facts.header?.scheduler.limits);
  if (mounts.length > most) {
    const count = `step ${name.step} needs ${mounts.length} mounts, but its service accepts ${most}`;
    const steps = findWidest(inputs, mounts.length - most);
    // Without reused cells, the number is that of the plan, which was checked before the run.
    if (steps.length > 0) return fail(`${count}: ${describeWidest(steps)}`);
  }
  const written = writeMounts(mounts);
  if (!written.ok) return written;
  return ok({ volumeMounts: written.value, writable: [...given, ...outputs.map(({ at }) => at)] });
}

interface InputMounts {
  readonly input: Input;
  readonly mounts: readonly Mount[];
}

/** The steps whose reused cells are the most mounts; without these, at least `excess` mounts are left out if possible. */
function findWidest(inputs: readonly InputMounts[], excess: number): string[] {
  const extra = new Map<string, number>();
  for (const { input, mounts } of inputs) {
    if (!('step' in input.from) || mounts.length <= 1) continue;
    extra.set(input.from.step, (extra.get(input.from.step) ?? 0) + mounts.length - 1);
  }
  const widest = [...extra].sort((a, b) => b[1] - a[1]);
  let left = excess;
  return widest.flatMap(([step, count]) => {
    const isNeeded = left > 0;
    left -= count;
    return isNeeded ? [step] : [];
  });
}

function describeWidest(steps: readonly string[]): string {
  const forced = steps.map((step) => `--from ${step}`).join(' ');
  return `each reused cell of ${steps.join(' and ')} needs one; add \`${forced}\` to run these cells again instead of reusing them`;
}

/** Whether an attempt may write to the input, in a copy that no other attempt mounts. */
export function hasPrivateCopy(input: Input, pipeline: Plan['pipeline']): boolean {
  return input.writable === true && !writesToShared(input, pipeline);
}

/** The directories to which the attempt itself writes. */
function attemptMounts(container: ResolvedContainer, workspace: string, name: Attempt['name']): Mount[] {
  const mounts: Mount[] = [];
  const directory = attemptPath(name);
  for (const output of container.outputs) {
    mounts.push({
      volumeID: workspace,
      path: attemptOutputPath(directory, output.name),
      create: true,
      at: output.path,
    });
  }
  if (container.results.length > 0) {
    mounts.push({ volumeID: workspace, path: attemptResultsPath(directory), create: true, at: RESULTS_MOUNT });
  }
  if (container.ready) {
    mounts.push({ volumeID: workspace, path: attemptReadyPath(directory), create: true, at: READY_MOUNT });
  }
  return mounts;
}

/** The mounts of an input on a cluster. For a step with cells: their parent directory, then each reused cell. */
export function inputMounts(session: RunSession, input: Input, clusterID: string): Mount[] {
  const { from, path: at } = input;
  if ('volume' in from) {
    const place = own(session.facts.volumes, from.volume);
    const path = [place?.path, from.path].filter(Boolean).join('/');
    const volume = own(session.plan.pipeline.volumes, from.volume);
    const isSource = volume?.source !== undefined;
    const isOfRun = volume?.retain === false && volume.id === undefined && !isSource;
    const volumeID = isSource ? workspaceOn(session.facts, clusterID) : (place?.volumeID ?? '');
    return [{ volumeID, path, create: isOfRun, at }];
  }
  return stepMounts(session, { from, clusterID, at });
}

/** The mounts of a step's output. Data from other clusters has been copied to the same path of this cluster's workspace. */
function stepMounts(
  session: RunSession,
  { from, clusterID, at }: { readonly from: StepSource; readonly clusterID: string; readonly at: string },
): Mount[] {
  const { output } = from;
  const step = stepIndex(session.plan, from.step)!;
  const volumeID = workspaceOn(session.facts, clusterID);
  const locate = (cell: number) => locateOutput(session, { step, cell, output }).path;
  if (!isFannedOut(session, step)) {
    // A step that was skipped or failed may have published nothing. Its dependents mount an empty directory.
    const isAbsent = !hasSucceeded(session, step, 0);
    if (from.path === undefined) return [{ volumeID, path: locate(0), create: isAbsent, at }];
    // Created inside the output, the directory would change what other steps mount.
    if (isAbsent)
      return [{ volumeID, path: absentPath(session.runId, { ...from, path: from.path }), create: true, at }];
    return [{ volumeID, path: `${locate(0)}/${from.path}`, tree: locate(0), create: false, at }];
  }
  const common = findCommonOrigin(session, step);
  if (common) {
    const path = publishedPath({ runId: common.runId, step: common.step, output });
    return [{ volumeID, path, create: false, at }];
  }
  const { name } = session.plan.steps[step]!.step;
  const own = publishedPath({ runId: session.runId, step: name, output });
  const mounts: Mount[] = [{ volumeID, path: own, create: true, at }];
  (session.facts.cells[step] ?? []).forEach(({ key }, cell) => {
    const path = locate(cell);
    if (path !== `${own}/${key}`) mounts.push({ volumeID, path, create: false, at: `${at}/${key}` });
  });
  return mounts;
}

/** The protocol's map from sources to mount points, in which each key is unique. */
function writeMounts(mounts: readonly Mount[]): Result<Record<string, string>, string> {
  const written: Record<string, string> = {};
  for (const mount of mounts) {
    const plain = mount.path === '' ? mount.volumeID : `${mount.volumeID}:${mount.path}`;
    // The same directory has two possible keys, so that it can be mounted twice.
    const keys = mount.path === '' ? [plain] : mount.create ? [`${plain}:dir`, plain] : [plain, `${plain}:dir`];
    const key = keys.find((candidate) => !Object.hasOwn(written, candidate));
    if (key === undefined)
      return fail(`cannot mount ${plain} at ${mount.at}: it is already mounted at ${own(written, keys[0]!)}`);
    written[key] = mount.at;
  }
  return ok(written);
}
