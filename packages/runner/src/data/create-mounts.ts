import {
  fail,
  type Input,
  ok,
  own,
  type Plan,
  type ResolvedContainer,
  type Result,
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
  type ReadInput,
  type ReadSource,
  readInputs,
  succeededCells,
  workspaceOn,
} from '@sluice/run';
import { maxMounts } from '../placement/find-mount-fault.ts';
import type { Attempt } from '../session/attempt.ts';
import type { RunSession } from '../session/run-session.ts';
import { absentPath } from './absent-path.ts';
import { type DirectoryOf, findDirectory, isCommon } from './find-directory.ts';
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
  { at, name, ref }: Pick<Attempt, 'at' | 'name' | 'ref'>,
  container: ResolvedContainer,
): Result<ContainerMounts, string> {
  const workspace = workspaceOn(session.facts, ref.clusterID);
  const mountsOf = (read: ReadInput): Mount[] => {
    if (!hasPrivateCopy(read.input, session.plan.pipeline))
      return inputMounts(session, read, { cell: name, clusterID: ref.clusterID });
    return [{ volumeID: workspace, path: privateCopyPath(name, read.name), create: false, at: read.input.path }];
  };
  const inputs = readInputs(session, at.step, at.cell).map(
    (read): InputMounts => ({
      input: read.input,
      mounts: mountsOf(read),
    }),
  );
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

/** Where and for which cell an input is mounted. */
export interface InputPlace {
  readonly cell: Pick<Attempt['name'], 'step' | 'cell'>;
  readonly clusterID: string;
}

/** The mounts of an input on a cluster. For several cells: a directory, then each cell that is elsewhere. */
export function inputMounts(session: RunSession, { name, input, source }: ReadInput, place: InputPlace): Mount[] {
  const { from, path: at } = input;
  if ('volume' in from) {
    const found = own(session.facts.volumes, from.volume);
    const path = [found?.path, from.path].filter(Boolean).join('/');
    const volume = own(session.plan.pipeline.volumes, from.volume);
    const isSource = volume?.source !== undefined;
    const isOfRun = volume?.retain === false && volume.id === undefined && !isSource;
    const isOfItem = volume?.each !== undefined;
    const volumeID = isSource ? workspaceOn(session.facts, place.clusterID) : (found?.volumeID ?? '');
    return [{ volumeID, path, create: isOfRun || isOfItem, at }];
  }
  const volumeID = workspaceOn(session.facts, place.clusterID);
  if (source!.isSingle) return [cellMount(session, source!, { volumeID, at })];
  return directoryMounts(session, { input: name, source: source!, ...place }, { volumeID, at });
}

/** Data from other clusters has been copied to the same path of this cluster's workspace. */
function cellMount(session: RunSession, source: ReadSource, { volumeID, at }: { volumeID: string; at: string }): Mount {
  const { step, output, path } = source;
  const [cell] = source.cells;
  // A step that was skipped or failed may have published nothing. Its dependents mount an empty directory.
  if (cell === undefined || !hasSucceeded(session, step, cell)) {
    const isPlain = cell !== undefined && !isFannedOut(session, step);
    if (path === undefined && isPlain)
      return { volumeID, path: locateOutput(session, { step, cell, output }).path, create: true, at };
    // Created inside the output, the directory would change what other steps mount.
    const absent = { step: session.plan.steps[step]!.step.name, output, path: path ?? '' };
    return { volumeID, path: absentPath(session.runId, absent), create: true, at };
  }
  const whole = locateOutput(session, { step, cell, output }).path;
  if (path === undefined) return { volumeID, path: whole, create: false, at };
  return { volumeID, path: `${whole}/${path}`, tree: whole, create: false, at };
}

function directoryMounts(
  session: RunSession,
  of: DirectoryOf,
  { volumeID, at }: { volumeID: string; at: string },
): Mount[] {
  const { path: own, names } = findDirectory(session, of);
  const mounts: Mount[] = [{ volumeID, path: own, create: true, at }];
  for (const cell of succeededCells(session, of.source)) {
    const { step, output } = of.source;
    const { path } = locateOutput(session, { step, cell, output });
    const name = names(cell);
    if (path !== `${own}/${name}`) mounts.push({ volumeID, path, create: false, at: `${at}/${name}` });
  }
  return isCommon(session, of) ? [{ ...mounts[0]!, create: false }] : mounts;
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
