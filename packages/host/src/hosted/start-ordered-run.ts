import { existsSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { isServiceError } from '@sluice/client';
import { ok, own, type Result } from '@sluice/core';
import { isHosted, limitReceivedPlan, runDirectory } from '@sluice/home';
import type { RunError } from '@sluice/run';
import {
  countKnownCells,
  createRerun,
  createRunFiles,
  findMissingSecret,
  keepRunLogin,
  type RunFiles,
} from '@sluice/runner';
import type { z } from 'zod';
import { ApiError, fromRunError } from '../errors/api-error.ts';
import type { orderBody, RerunRequest } from '../schemas/order.ts';
import { addRun } from './add-run.ts';
import { findOrderFault } from './find-order-fault.ts';
import type { OrderParts } from './order-parts.ts';
import { rejectShortage } from './reject-shortage.ts';
import { readStart, recordOrder, type StartRecord } from './start-record.ts';

/**
 * Plans the run of an order and executes it. Before the run appears with one rename, nothing has happened, and the request
 * can be repeated. Throws `ApiError` for a run that the server does not execute.
 */
export async function startOrderedRun(
  runId: string,
  { body, ...parts }: OrderParts & { readonly body: z.output<typeof orderBody> },
): Promise<void> {
  const start = recordOrder(body);
  if (await isStarted(runId, { ...parts, start })) return;
  const { home, service, scope, limits, planOrder } = parts;
  await rejectShortage(parts);
  limits.checkRate();
  const { order, pipeline, files, sources, parts: digests, workspace, secrets, reuse } = body;
  const planned = await planOrder({ order, pipeline, ...(files && { files }) });
  if (!planned.ok) throw invalid(runId, planned.error);
  const plan = planned.value;
  limitReceivedPlan(plan);
  const fault = findOrderFault(plan);
  if (fault !== undefined) throw invalid(runId, fault);
  limits.checkSteps(countKnownCells(plan));
  if (reuse !== undefined && !existsSync(runDirectory(home, reuse.runId))) throw describeUnknown(runId, reuse.runId);
  const secret = findMissingSecret(plan, (name) => own(secrets, name));
  if (secret !== undefined) throw reject(runId, secret);
  await keepLogin(body, parts);
  const created = await createRunFiles({
    ...{ runId, home, service, scope, plan, order, baseDir: dirnameOf(order.file) },
    data: { sources, ...(digests && { parts: digests }), ...(workspace && { workspaceId: workspace.volumeId }) },
    ...(reuse && { reuse }),
  });
  if (!created.ok) throw reject(runId, created.error);
  await execute(runId, created.value, { ...parts, start, values: secrets });
}

/** As `startOrderedRun`, for the plan of an ended run. The rejection says why it cannot be executed again. */
export async function startRerun(
  runId: string,
  { request, ...parts }: OrderParts & { readonly request: RerunRequest },
): Promise<Result<void, RunError>> {
  const start = { rerun: request };
  if (await isStarted(runId, { ...parts, start })) return ok(undefined);
  const { home, service, limits } = parts;
  await rejectShortage(parts);
  limits.checkRate();
  const created = await createRerun({ home, service, runId, ...request });
  if (!created.ok) return created;
  limits.checkSteps(created.value.cells);
  await execute(runId, created.value, { ...parts, start, values: {} });
  return ok(undefined);
}

/** Whether the same request has started the run before. Throws if another one has. */
async function isStarted(
  runId: string,
  { home, host, start }: Pick<OrderParts, 'home' | 'host'> & { readonly start: StartRecord },
): Promise<boolean> {
  const directory = runDirectory(home, runId);
  if (!existsSync(directory)) return false;
  if (isDeepStrictEqual(await readStart(directory), start)) {
    if (isHosted(home, runId)) host.take(runId);
    return true;
  }
  const message = `could not start run ${runId}: this account has a run with this ID and other content`;
  throw new ApiError(409, 'RUN_EXISTS', message);
}

interface Executing extends OrderParts {
  readonly start: StartRecord;
  /** The values of the secrets that the run has. */
  readonly values: Readonly<Record<string, string>>;
}

/** A server reads the plan and the journal of a run in one piece, while it serves no other request. */
const MAX_PLAN_BYTES = 4 * 1024 * 1024;

async function execute(runId: string, files: RunFiles, { start, values, ...parts }: Executing): Promise<void> {
  const { home, host, limits, secrets } = parts;
  const { length } = files['plan.json'];
  if (length > MAX_PLAN_BYTES) {
    const message = `could not accept the run: its plan has ${length} bytes, and a server takes at most ${MAX_PLAN_BYTES}; execute it without a server`;
    throw new ApiError(413, 'RUN_TOO_LARGE', message);
  }
  await limits.checkStorage(length + files['journal.ndjson'].length);
  const sealed = Object.keys(values).length === 0 ? undefined : await secrets.seal(runId, values);
  await addRun({ home, runId }, { files, start, sealed });
  host.take(runId);
}

/** The runner opens the workspace with the login of its home. */
async function keepLogin(
  { workspace }: z.output<typeof orderBody>,
  { home, scope, service }: OrderParts,
): Promise<void> {
  if (workspace === undefined) return;
  const { volumeId, login } = workspace;
  try {
    await service.volumes.files({ ...scope, id: volumeId }, login).stat('runs');
  } catch (error) {
    if (!isServiceError(error)) throw error;
    const message = `could not open the workspace ${volumeId} of the run: ${error.message}`;
    throw new ApiError(400, 'LOGIN_INVALID', message);
  }
  await keepRunLogin(home, volumeId, login);
}

function invalid(runId: string, why: string): ApiError {
  return new ApiError(400, 'RUN_INVALID', `could not start run ${runId}: ${why}`);
}

function reject(runId: string, { code, message }: RunError): ApiError {
  return fromRunError({ code, message: `could not start run ${runId}: ${message}` });
}

/** A run that a home has executed is not known here: the server has only the records of its own runs. */
function describeUnknown(runId: string, reused: string): ApiError {
  const why = `the server has not executed run ${reused} for this account, so it cannot reuse its results`;
  return new ApiError(404, 'RUN_NOT_FOUND', `could not start run ${runId}: ${why}; order it without them`);
}

/** The directory on the machine of the user; this server never opens it. */
function dirnameOf(file: string): string {
  return file.replace(/\/[^/]*$/, '') || '/';
}
