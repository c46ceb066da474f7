import path from 'node:path';
import type { ContainerService } from '@sluice/client';
import { fail, ok, own, type Result } from '@sluice/core';
import { replayFromHome } from '@sluice/home';
import type { ReplayedRun, RunError } from '@sluice/run';
import { previewReuse, type StepsOfPreview, sumUpPreview } from '../cache/preview-reuse.ts';
import { withDefaults } from '../session/run-defaults.ts';
import { createRunFiles, openRunData, type RunData, type RunFiles } from './create-run-files.ts';
import { findMissingSecret } from './find-missing-secret.ts';
import { rejectServiceErrors } from './service-rejection.ts';

/** An ended run whose plan is to be executed again, in a home that may have no pipeline file. */
export interface RerunOptions {
  readonly home: string;
  /** The ID of the ended run. */
  readonly of: string;
  /** Reuse what succeeded, except for these steps and everything downstream. Absent: everything is run. */
  readonly from?: readonly string[];
  readonly service: ContainerService;
}

/**
 * Which steps a rerun would reuse and which it would run. `checksData`: also asks the service whether the workspace and the
 * uploaded sources still exist.
 */
export async function previewRerun(
  options: RerunOptions,
  { checksData }: { readonly checksData: boolean },
): Promise<Result<StepsOfPreview, RunError>> {
  const home = path.resolve(options.home);
  const read = await readEnded({ ...options, home });
  if (!read.ok) return read;
  const { plan } = read.value.facts;
  const checked = checksData
    ? await rejectServiceErrors(() => openRunData({ ...options, home, ...describe(read.value) }))
    : ok(undefined);
  if (!checked.ok) return checked;
  const { of, from } = options;
  if (from === undefined) return ok({ reused: [], run: plan.steps.map(({ step }) => step.name) });
  const previewed = await previewReuse({ plan, home, reuse: { runId: of, from } });
  return previewed.ok ? ok(sumUpPreview(previewed.value)) : previewed;
}

/**
 * Creates the files of a run that executes the plan of an ended one again, with its parameters, its sources and its
 * workspace, as `createRunFiles`.
 */
export function createRerun(options: RerunOptions & { readonly runId: string }): Promise<Result<RunFiles, RunError>> {
  const { of, from } = options;
  return rejectServiceErrors(async () => {
    const read = await readEnded(options);
    if (!read.ok) return read;
    const reuse = from && { runId: of, from };
    return createRunFiles({ ...options, ...describe(read.value), rerunOf: of, ...(reuse && { reuse }) });
  });
}

async function readEnded({ home, of }: Pick<RerunOptions, 'home' | 'of'>): Promise<Result<ReplayedRun, RunError>> {
  const { disk } = withDefaults({ home: path.resolve(home) });
  const replayed = await replayFromHome(disk, path.resolve(home), of);
  if (!replayed.ok) return replayed;
  const { facts } = replayed.value;
  if (!facts.finished) return fail({ code: 'RUN_IN_USE', message: 'it has not ended' });
  // Their values were deleted at the end of the run.
  const secret = findMissingSecret(facts.plan, () => undefined);
  return secret === undefined ? replayed : fail(secret);
}

/** What the new run has of the earlier one. */
function describe({ facts }: ReplayedRun) {
  const { clusterID, accountID, baseDir, order, scheduler } = facts.header!;
  return {
    ...{ plan: facts.plan, baseDir, scope: { clusterID, accountID }, data: dataOf(facts) },
    parallelism: scheduler.parallelism,
    ...(scheduler.limits && { limits: scheduler.limits }),
    ...(order && { order }),
  };
}

/** In the workspace, by the digest of its content. */
const SOURCE_PATH = /^sources\/(\w+)\/files$/;

function dataOf({ volumes, plan }: ReplayedRun['facts']): RunData {
  const sources: Record<string, string> = {};
  const parts: Record<string, Readonly<Record<string, string>>> = {};
  for (const [name, { source }] of Object.entries(plan.pipeline.volumes)) {
    const place = source === undefined ? undefined : own(volumes, name);
    const digest = SOURCE_PATH.exec(place?.path ?? '')?.[1];
    if (digest !== undefined) sources[name] = digest;
    if (place?.parts !== undefined) parts[name] = place.parts;
  }
  const workspaceId = own(volumes, '')?.volumeID;
  return { sources, parts, ...(workspaceId !== undefined && { workspaceId }) };
}
