import { fail, ok, type Result } from '@sluice/core';
import { submitRun } from '@sluice/runner';
import type { HomeService } from '../connect/open-service.ts';
import { tryWithService } from '../connect/with-service.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { fromRunError } from '../context/reject.ts';
import type { Progress } from '../render/plain-progress.ts';
import { findUnknownIn } from '../runs/find-unknown-in.ts';
import type { HandedRun } from '../runs/handed-run.ts';
import { findExecutingServer, orderRun } from '../runs/order-run.ts';
import type { PreparedRun, RejectedStart, RunRequest } from '../runs/prepare-run.ts';
import { type Ordered, startOptions } from '../runs/start-options.ts';
import { findHostFault } from './hand-to-host.ts';
import { hostRun, markRecorded } from './host-run.ts';

/** What is submitted. */
export interface Submission extends Ordered {
  readonly prepared: PreparedRun;
  /** The pipeline is that of a program: there is no file, which a rerun could read. */
  readonly isBuilt?: boolean;
  /** Creates the display that receives the events of the start. Without one, the warnings of the service are not printed. */
  readonly openProgress?: () => Promise<Progress>;
}

/** A run that a server has, or that is recorded for the host of a home. */
type Submitted = { readonly handed: HandedRun } | { readonly runId: string; readonly home: string };

/** Records a prepared run, and has the server of its service or the home's host execute it. */
export async function submitPrepared(
  submission: Submission & Pick<RunRequest, 'context'>,
): Promise<Result<HandedRun, RejectedStart>> {
  const { context, options } = submission;
  const use = { context, options, startsContainers: submission.openProgress !== undefined };
  const submitted = await tryWithService(use, (opened) => submitOrRecord(opened, submission));
  if (!submitted.ok) return submitted;
  if ('handed' in submitted.value) return ok(submitted.value.handed);
  // The host opens the service after this process has closed it.
  return hostRun({ ...submitted.value, context, options });
}

/** Has the server of an opened service execute a prepared run, or records it for the home's host, and opens no other service. */
export async function submitOrRecord(
  opened: HomeService,
  submission: Submission,
): Promise<Result<Submitted, RejectedStart>> {
  const { prepared, context, options } = submission;
  const { home } = opened;
  const unknown = await findUnknownIn(prepared.loaded.plan, opened);
  if (unknown !== undefined) return fail(unknown);
  const server = await findExecutingServer(opened, options);
  if (server !== undefined) {
    const handed = await orderRun(server, submission);
    return handed.ok ? ok({ handed: handed.value }) : handed;
  }
  const fault = findHostFault(home);
  if (fault !== undefined) return fail({ exitCode: EXIT_CODE.rejected, message: `${fault}; nothing was started` });
  const runId = await recordRun(opened, submission);
  if (!runId.ok) return runId;
  // Every later host of the home resumes it.
  const marked = await markRecorded({ home, runId: runId.value, context, options });
  return marked.ok ? ok({ runId: runId.value, home }) : marked;
}

/** Starts a run that no process executes yet. */
export async function recordRun(
  opened: HomeService,
  { prepared, openProgress, isBuilt = false, ...request }: Submission,
): Promise<Result<string, RejectedStart>> {
  const { loginAdvice } = opened;
  const progress = await openProgress?.();
  try {
    const { order, ...start } = await startOptions(prepared, opened, request);
    const submitted = await submitRun({
      ...start,
      ...(order && !isBuilt && { order }),
      ...(progress && { reporter: progress }),
    });
    return submitted.ok
      ? ok(submitted.value.runId)
      : fail(fromRunError(submitted.error, { options: request.options, loginAdvice }));
  } finally {
    progress?.close();
  }
}
