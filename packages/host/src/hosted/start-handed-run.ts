import { existsSync } from 'node:fs';
import { copyFile, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isServiceError } from '@sluice/client';
import { own } from '@sluice/core';
import { RECEIVED_FILE, runDirectory } from '@sluice/home';
import { replaceFile, syncDirectory } from '@sluice/host-system';
import { type CheckedRun, findBusyGroup, hashLocalFile, keepRunLogin, openVolume } from '@sluice/runner';
import type { z } from 'zod';
import { ApiError } from '../errors/api-error.ts';
import { isHosted, markHosted } from '../execute/hosted-mark.ts';
import type { startBody } from '../schemas/hand-over.ts';
import type { HandOverParts } from './hand-over-parts.ts';
import { type ReleaseRecord, readRelease, removeRelease } from './release-record.ts';
import { SECRETS_FILE } from './secret-store.ts';
import { removeStaged, stagedDirectory, verifyStaged } from './staged-files.ts';
import { addStagedRun, checkStagedRun, describeExisting, describeStaged } from './staged-run.ts';
import { isSameStart, readStart } from './start-record.ts';

interface Starting extends HandOverParts {
  readonly body: z.output<typeof startBody>;
}

/**
 * Executes the run whose files were received. A new run appears with one rename, with its mark and its secrets. If the
 * process is killed before, the files are still staged, and the request can be repeated; if it is killed after it, the
 * next process finds the mark.
 */
export async function startHandedRun(runId: string, given: Starting): Promise<void> {
  const { home, host, limits, body } = given;
  const directory = runDirectory(home, runId);
  const started = await readStart(directory);
  const released = await readRelease(home, runId);
  if (released === undefined && started !== undefined && isSameStart(started, body)) {
    if (isHosted(home, runId)) host.take(runId);
    return;
  }
  if (released === undefined && existsSync(directory)) throw describeExisting(runId);
  limits.checkRate();
  await verifyStaged({ home, runId }, body.files);
  if (released !== undefined) await checkContinued(runId, { home, released });
  const checked = await checkStagedRun(runId, given);
  limits.checkSteps(checked.cells);
  if (released === undefined) await checkGroup(runId, { ...given, checked });
  await keepLogin(checked, given);
  await prepareStart(runId, { ...given, checked });
  await (released === undefined ? addStagedRun : replaceRun)(home, runId);
  host.take(runId);
}

/** A released run may have been continued elsewhere, but never with another past. */
async function checkContinued(
  runId: string,
  { home, released }: { readonly home: string; readonly released: ReleaseRecord },
): Promise<void> {
  const { journal } = released;
  if (journal === undefined) {
    throw conflict('RUN_RELEASED', `could not start run ${runId}: it is being released; repeat that request`);
  }
  const staged = stagedDirectory(home, runId);
  const isContinued =
    (await hashLocalFile(join(staged, 'journal.ndjson'), journal.size)) === journal.sha256 &&
    (await hashLocalFile(join(staged, 'plan.json'))) ===
      (await hashLocalFile(join(runDirectory(home, runId), 'plan.json')));
  if (isContinued) return;
  await removeStaged(home, runId);
  throw conflict('RUN_EXISTS', `could not start run ${runId}: its journal does not continue the one that was released`);
}

/** A run with `overlap: fail` is rejected while its concurrency group is full. */
async function checkGroup(
  runId: string,
  { home, scope, service, checked }: Starting & { readonly checked: CheckedRun },
): Promise<void> {
  const { plan, plannedTime } = checked;
  const busy = await findBusyGroup({ home, scope, service, plan, runId }, plannedTime);
  if (busy !== undefined) throw conflict(busy.code, `could not start run ${runId}: ${busy.message}`);
}

/** The runner opens the workspace with the login of its home. */
async function keepLogin({ workspaceId }: CheckedRun, { home, scope, service, body }: Starting): Promise<void> {
  if (workspaceId === undefined) return;
  const { clusterID, accountID } = scope;
  const login = own(body.logins, workspaceId);
  if (login === undefined) {
    const volume = { clusterId: clusterID, accountId: accountID, volumeId: workspaceId };
    if ((await openVolume({ home, service, volume })).ok) return;
    throw new ApiError(
      400,
      'LOGIN_MISSING',
      `could not start the run: the login of its workspace ${workspaceId} is missing`,
    );
  }
  try {
    await service.volumes.files({ clusterID, accountID, id: workspaceId }, login).stat('runs');
  } catch (error) {
    if (!isServiceError(error)) throw error;
    throw new ApiError(
      400,
      'LOGIN_INVALID',
      `could not open the workspace ${workspaceId} of the run: ${error.message}`,
    );
  }
  await keepRunLogin(home, workspaceId, login);
}

/** Everything that the run has besides the received files. It has no effect until the directory is renamed. */
async function prepareStart(
  runId: string,
  { home, body, secrets, checked }: Starting & { readonly checked: CheckedRun },
): Promise<void> {
  const staged = stagedDirectory(home, runId);
  const hasSecrets = Object.keys(body.secrets).length > 0;
  if (hasSecrets) await replaceFile(join(staged, SECRETS_FILE), await secrets.seal(runId, body.secrets));
  else await rm(join(staged, SECRETS_FILE), { force: true });
  await describeStaged(staged, { summary: checked.summary, start: { files: body.files } });
}

/** Until the record of the release is removed, the run counts as released, and the request can be repeated. */
async function replaceRun(home: string, runId: string): Promise<void> {
  const directory = runDirectory(home, runId);
  const staged = stagedDirectory(home, runId);
  await copyDurably(join(staged, 'journal.ndjson'), join(directory, 'journal.ndjson'));
  if (existsSync(join(staged, SECRETS_FILE)))
    await copyDurably(join(staged, SECRETS_FILE), join(directory, SECRETS_FILE));
  await copyDurably(join(staged, RECEIVED_FILE), join(directory, RECEIVED_FILE));
  await markHosted(home, runId, { options: {} });
  await removeRelease(home, runId);
  await removeStaged(home, runId);
}

async function copyDurably(from: string, to: string): Promise<void> {
  const next = `${to}.received`;
  await copyFile(from, next);
  const handle = await open(next, 'r+');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(next, to);
  await syncDirectory(dirname(to));
}

function conflict(reason: string, message: string): ApiError {
  return new ApiError(409, reason, message);
}
