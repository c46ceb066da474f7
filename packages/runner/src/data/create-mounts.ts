import { fail, ok, type ResolvedContainer, type Result } from '@sluice/core';
import { clusterOfWorkspace, workspaceOn } from '../placement/place-of.ts';
import type { RunSession } from '../run/run-session.ts';
import { stepIndex } from '../run/step-context.ts';
import type { Attempt } from '../submission/attempt.ts';
import { READY_MOUNT } from '../submission/wrap-readiness.ts';
import { attemptOutputPath, attemptPath, attemptReadyPath, attemptResultsPath, publishedPath } from './layout.ts';
import { describeSiblings } from './siblings.ts';

/** Where a container finds and leaves the files of its results. */
const RESULTS_MOUNT = '/sluice/results';

/** What one mount shows, and where. */
interface Mount {
  readonly volumeID: string;
  /** Path inside the volume, `''` for all of it. */
  readonly path: string;
  /** Made as a directory where it is not there. */
  readonly create: boolean;
  readonly at: string;
}

/** The container's volume mounts: its inputs from published places only, its outputs into the attempt's own directory. */
export function createMounts(
  session: RunSession,
  { name, ref }: Pick<Attempt, 'name' | 'ref'>,
  container: ResolvedContainer,
): Result<Record<string, string>, string> {
  const mounts: Mount[] = container.inputs.flatMap((input) => inputMounts(session, input, ref.clusterID));
  const workspace = workspaceOn(session.facts, ref.clusterID);
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
  return writeMounts(mounts);
}

function inputMounts(session: RunSession, input: ResolvedContainer['inputs'][number], clusterID: string): Mount[] {
  const { from, path: at } = input;
  if ('volume' in from) {
    const place = session.facts.volumes[from.volume];
    const path = [place?.path, from.path].filter(Boolean).join('/');
    const isSource = session.plan.pipeline.volumes[from.volume]?.source !== undefined;
    const volumeID = isSource ? workspaceOn(session.facts, clusterID) : (place?.volumeID ?? '');
    return [{ volumeID, path, create: false, at }];
  }
  const step = stepIndex(session.plan, from.step)!;
  const { facts, runId } = session;
  const workspace = workspaceOn(facts, clusterID);
  // What lies on another cluster has been brought to the same path of this one's workspace.
  const here = (volumeID: string) => (clusterOfWorkspace(facts, volumeID) === clusterID ? volumeID : workspace);
  const cells = facts.cells[step] ?? [];
  const sources = cells.map((_, cell) => facts.known[step]?.[cell]?.cached);
  const place = { step: from.step, output: from.output };
  if (!isFannedOut(session, step)) {
    const cached = sources[0];
    const state = session.scheduler.state(step);
    const path = publishedPath({ ...place, step: cached?.step ?? from.step, runId: cached?.runId ?? runId });
    // A step that was skipped or may fail has published nothing: its dependents find an empty directory.
    return [
      { volumeID: cached ? here(cached.volumeID) : workspace, path, create: state !== 'succeeded' && !cached, at },
    ];
  }
  const whole = wholeSource(session, step);
  if (whole) {
    return [
      { volumeID: here(whole.volumeID), path: publishedPath({ ...place, runId: whole.runId }), create: false, at },
    ];
  }
  const mounts: Mount[] = [{ volumeID: workspace, path: publishedPath({ ...place, runId }), create: true, at }];
  cells.forEach((cell, index) => {
    const cached = sources[index];
    if (!cached) return;
    const path = publishedPath({ ...place, runId: cached.runId, step: cached.step, cell: cached.cell });
    mounts.push({ volumeID: here(cached.volumeID), path, create: false, at: `${at}/${cell.key}` });
  });
  return mounts;
}

/** Whether a step's outputs lie in one directory for each cell. */
export function isFannedOut(session: Pick<RunSession, 'plan'>, step: number): boolean {
  const spec = session.plan.steps[step]!.step;
  return spec.matrix !== undefined || spec.foreach !== undefined;
}

/** The earlier run all of whose cells of this step are reused, and no others: its parent directory is the same as ours. */
export function wholeSource(
  session: Pick<RunSession, 'facts'>,
  step: number,
): { runId: string; volumeID: string } | undefined {
  const cells = session.facts.cells[step] ?? [];
  const first = session.facts.known[step]?.[0]?.cached;
  if (!first || first.siblings !== describeSiblings(cells)) return undefined;
  const isSame = cells.every((_, cell) => session.facts.known[step]?.[cell]?.cached?.runId === first.runId);
  return isSame ? first : undefined;
}

/** The protocol's map from what is mounted to where, in which each key can stand once. */
function writeMounts(mounts: readonly Mount[]): Result<Record<string, string>, string> {
  const written: Record<string, string> = {};
  for (const mount of mounts) {
    const plain = mount.path === '' ? mount.volumeID : `${mount.volumeID}:${mount.path}`;
    const keys = mount.path === '' ? [plain] : mount.create ? [`${plain}:dir`] : [plain, `${plain}:dir`];
    const key = keys.find((candidate) => !(candidate in written));
    if (key === undefined)
      return fail(`cannot mount ${plain} at ${mount.at}: it is mounted at ${written[keys[0]!]} already`);
    written[key] = mount.at;
  }
  return ok(written);
}
