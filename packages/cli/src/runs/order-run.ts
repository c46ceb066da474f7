import { isServiceError, type ServiceError } from '@sluice/client';
import { fail, ok, type Result } from '@sluice/core';
import { createRunId, createSystemDisk, moveRun, runDirectory, writeSummary } from '@sluice/home';
import type { OrderBody } from '@sluice/host';
import { listPublished, type OrderedData, provisionOrder, secretNames } from '@sluice/runner';
import type { HomeService } from '../connect/open-service.ts';
import type { RunServer } from '../connect/run-server.ts';
import type { CommandError } from '../context/command-rejection.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { fromRunError } from '../context/reject.ts';
import { suggestCommand } from '../context/suggest-command.ts';
import { findNotifyCommands } from '../pipeline/find-notify-commands.ts';
import type { Progress } from '../render/plain-progress.ts';
import type { HandedRun } from './handed-run.ts';
import { updateMirror } from './mirror-run.ts';
import { type PreparedRun, type RejectedStart, type RunRequest, rejectLoaded } from './prepare-run.ts';
import { type Ordered, startOptions } from './start-options.ts';

interface Ordering extends Ordered {
  readonly prepared: PreparedRun;
  /** Creates the display that receives the events of the start. Without one, the warnings of the service are not printed. */
  readonly openProgress?: () => Promise<Progress>;
}

/** A service whose server executes runs. */
export type ServerService = HomeService & { readonly runServer: RunServer };

/** The opened service with its server, if that executes the runs of this account, and is to execute this one. */
export async function findExecutingServer(
  opened: HomeService,
  { here }: RunRequest['options'],
): Promise<ServerService | undefined> {
  const { runServer } = opened;
  if (here === true || runServer === undefined || !(await runServer.isAvailable())) return undefined;
  return { ...opened, runServer };
}

/**
 * Has a server plan and execute a run: uploads the sources to the workspace, and sends what a person has written. The home
 * keeps only the custody of the run, which comes before the request, so that a run whose order was interrupted can be found. A
 * rejected order leaves nothing behind.
 */
export async function orderRun(
  opened: ServerService,
  { prepared, openProgress, ...request }: Ordering,
): Promise<Result<HandedRun, RejectedStart>> {
  const { file, options } = request;
  const fault = findServerFault(prepared, { file, url: opened.runServer.url, options });
  if (fault !== undefined) return fail(fault);
  const progress = await openProgress?.();
  try {
    const start = await startOptions(prepared, opened, request);
    const runId = start.runId ?? createRunId();
    const given = { ...start, runId, ...(progress && { reporter: progress }) };
    const sent = await provisionOrder(given, (data) => send(opened, { runId, data, prepared, request, given }));
    if (sent.ok) return sent;
    return 'exitCode' in sent.error
      ? fail(sent.error)
      : fail(fromRunError(sent.error, { options, loginAdvice: opened.loginAdvice }));
  } finally {
    progress?.close();
  }
}

/** What a run cannot have on a server, although it could be executed here. */
function findServerFault(
  { loaded }: PreparedRun,
  { file, url, options }: Pick<RunRequest, 'file' | 'options'> & { readonly url: string },
): RejectedStart | undefined {
  const faults = findNotifyCommands(loaded);
  if (faults.length > 0) return rejectLoaded(file, { loaded, faults });
  if (options.stopAtApproval !== true) return undefined;
  const message = `${url} executes the run, and waits for the approval: start it without --stop-at-approval, or with --here; nothing was started`;
  return { exitCode: EXIT_CODE.rejected, message };
}

interface Sending {
  readonly runId: string;
  readonly data: OrderedData;
  readonly prepared: PreparedRun;
  readonly request: Ordered;
  readonly given: Awaited<ReturnType<typeof startOptions>>;
}

async function send(
  { home, runServer }: ServerService,
  { runId, data, prepared, request, given }: Sending,
): Promise<Result<HandedRun, CommandError>> {
  const { options } = request;
  const { url, scope } = runServer;
  const reached = { service: url, cluster: scope.clusterID, account: scope.accountID };
  const publish = listPublished(given.plan, given.baseDir);
  const place = { ...reached, ...(options.profile !== undefined && { profile: options.profile }), publish };
  const directory = runDirectory(home, runId);
  const disk = createSystemDisk();
  const moved = await moveRun({ home, runId }, 'order', { place });
  if (!moved.ok) return fail({ exitCode: EXIT_CODE.rejected, message: `could not order run ${runId}: ${moved.error}` });
  const { name: pipeline, labels } = given.plan.pipeline;
  const labeled = Object.keys(labels).length > 0 ? { labels } : {};
  await writeSummary(disk, directory, { pipeline, ...labeled, createdAt: Date.now() });
  let page: string;
  try {
    page = await runServer.order(runId, createBody({ runId, data, prepared, given }));
  } catch (error) {
    if (!isServiceError(error)) throw error;
    if (!isRejected(error)) return fail(describeUnknown(error, { runId, url, options }));
    if (moved.value.state !== 'server') await disk.remove(directory);
    const exitCode = error.reason === 'GROUP_BUSY' ? EXIT_CODE.busy : EXIT_CODE.rejected;
    return fail({ exitCode, message: `${url} does not execute the run: ${error.message}; nothing was started` });
  }
  await moveRun({ home, runId }, 'accept', { place: { ...place, ...(page !== '' && { runUrl: page }) } });
  // Otherwise the next command about the run copies it.
  await updateMirror({ home, runId, server: runServer }).catch((error: unknown) => {
    if (!isServiceError(error)) throw error;
  });
  return ok({ runId, to: 'server', url, ...(page !== '' && { page }) });
}

function createBody({ runId, data, prepared, given }: Omit<Sending, 'request'>): OrderBody {
  const { file, texts, files } = prepared.loaded;
  const { order, plan, secrets, reuse } = given;
  // A missing one is a local fault, which has been found before.
  const values = [...secretNames(plan)].map((name) => [name, secrets!(name, runId)!] as const);
  return {
    order: order!,
    pipeline: { file, texts: Object.fromEntries(texts) },
    ...(Object.keys(files).length > 0 && { files }),
    ...data,
    secrets: Object.fromEntries(values),
    ...(reuse && { reuse: { runId: reuse.runId, from: [...reuse.from] } }),
  };
}

const REJECTED = [
  ...(['PERMISSION_DENIED', 'NOT_FOUND', 'ALREADY_EXISTS', 'FAILED_PRECONDITION'] as const),
  ...(['INVALID_ARGUMENT', 'RESOURCE_EXHAUSTED'] as const),
];

/**
 * Whether the server has replied that it does not execute the run, or that its disk is full. A run that it
 * has removed was executed, and with the reason RUN_EXISTS, it executes another one with this ID.
 */
function isRejected(error: ServiceError): boolean {
  const { reason } = error;
  if (reason === 'RUN_REMOVED' || reason === 'RUN_EXISTS') return false;
  return reason === 'STORE_FULL' || isServiceError(error, ...REJECTED);
}

function describeUnknown(
  { message }: ServiceError,
  { runId, url, options }: { readonly runId: string; readonly url: string; readonly options: RunRequest['options'] },
): CommandError {
  const attach = suggestCommand(['attach', runId], options);
  return {
    exitCode: EXIT_CODE.suspended,
    message: `it is unknown whether ${url} executes run ${runId}: ${message}; ask it with: ${attach}`,
  };
}
