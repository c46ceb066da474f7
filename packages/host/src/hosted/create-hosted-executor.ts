import type { ContainerService } from '@sluice/client';
import { fail, ok, type Result } from '@sluice/core';
import { isHosted } from '@sluice/home';
import type { RunError } from '@sluice/run';
import { previewRerun, type RunHandle, type RunnerOptions, resumeToCancel, type TraceSink } from '@sluice/runner';
import { describeClosing, type RunExecutor, type RunOrders, type StartRequest } from '../api/run-api.ts';
import { ApiError, fromRunError } from '../errors/api-error.ts';
import type { RunHost } from '../execute/open-run-host.ts';
import { requireMove } from '../execute/require-move.ts';
import type { RerunRequest } from '../schemas/order.ts';
import { rejectCreation } from './reject-creation.ts';
import type { SecretStore } from './secret-store.ts';

/** What the actions on the runs of an account depend on. */
export interface HostedExecutorParts {
  readonly home: string;
  readonly service: ContainerService;
  readonly host: Pick<RunHost, 'take'>;
  readonly orders: Pick<RunOrders, 'rerun'>;
  readonly deleteRun: RunExecutor['delete'];
  readonly secrets: SecretStore;
  readonly restrictions: Required<Pick<RunnerOptions, 'notifier' | 'delivers' | 'allowance'>>;
  readonly log: (line: string) => void;
  readonly traces?: TraceSink;
  /** Aborted before `close`: a run that is being resumed only to be canceled is left. */
  readonly leaving: AbortSignal;
}

const NO_FILES = 'a server has no pipeline files: start the run with `sluice run` and its option `--detach`';

/** Executes the runs of an account on request, until it is closed. */
export interface HostedExecutor extends RunExecutor {
  /**
   * Cancels a run that no process executes, on behalf of another. Resolves when it has ended (false), or to true when it waits
   * for a slot to end.
   */
  cancelLeft(runId: string, by: string): Promise<boolean>;
  /** Suspends the runs that it cancels; the next process cancels them. */
  close(): Promise<void>;
}

/** Executes the actions that need no pipeline file. A rerun has the plan and the parameters of the earlier run. */
export function createHostedExecutor(parts: HostedExecutorParts): HostedExecutor {
  const { home, service, host, orders } = parts;
  const canceling: Canceling = { begun: new Set(), runs: new Map() };
  const begin = (runId: string, cancelBy: string, { cancelsOnce = false } = {}) => {
    const canceled = cancel(runId, { ...parts, cancelBy, cancelsOnce, canceling });
    canceling.begun.add(canceled);
    return canceled.finally(() => canceling.begun.delete(canceled));
  };
  return {
    async close() {
      await Promise.allSettled(canceling.begun);
      await Promise.all([...canceling.runs].map(([run, recorded]) => Promise.all([run.suspend(), recorded])));
    },
    async cancelLeft(runId, by) {
      const canceled = await begin(runId, by, { cancelsOnce: true });
      return canceled.ok && (await canceled.value.isHandedBack);
    },
    async resume(runId, { cancelBy } = {}) {
      if (cancelBy !== undefined) {
        const canceled = await begin(runId, cancelBy);
        return canceled.ok ? ok(undefined) : canceled;
      }
      await requireMove(home, runId, 'detach');
      host.take(runId);
      return ok(undefined);
    },
    async preview(order, isDryRun) {
      const request = readRequest(order);
      if (request === undefined) return fail(NO_FILES);
      const previewed = await previewRerun({ home, service, ...request }, { checksData: isDryRun });
      if (!previewed.ok) throw rejectRerun(order, request.of, previewed.error);
      return previewed;
    },
    delete: parts.deleteRun,
    createOrder: async () => fail(NO_FILES),
    listPipelines: async () => [],
    async start(order, runId) {
      const request = readRequest(order);
      if (request === undefined) return fail(NO_FILES);
      const started = await orders.rerun(runId, request);
      if (!started.ok) throw rejectRerun(order, request.of, started.error);
      return started;
    },
  };
}

/** Undefined: the order is not a rerun. */
function readRequest(order: StartRequest): RerunRequest | undefined {
  const { origin, params, paramsFile, reuse, from } = order;
  if (!('rerunOf' in origin)) return undefined;
  const of = origin.rerunOf;
  const [changed] = Object.keys(params);
  if (paramsFile !== undefined) throw needClient(order, of, `a server does not read ${paramsFile}, a file of a client`);
  if (changed === undefined) return { of, ...(reuse && { from: [...from] }) };
  throw needClient(order, of, `a server has no pipeline file, which another value of parameter ${changed} needs`);
}

/** Only the machine of the user has what is missing. */
const AT_CLIENT: Partial<Record<RunError['code'], (message: string) => string>> = {
  SECRET_MISSING: () => 'it needs secrets, which the server has deleted at the end of the run',
  SOURCE_MISSING: (message) => message,
  HOME_UNUSABLE: (message) => message,
};

function rejectRerun(order: StartRequest, of: string, { code, message }: RunError): ApiError {
  const why = AT_CLIENT[code]?.(message);
  if (why !== undefined) return needClient(order, of, why);
  return fromRunError({ code, message: `could not rerun run ${of}: ${message}` });
}

function needClient({ command }: StartRequest, of: string, why: string): ApiError {
  const advice = command === undefined ? '' : `; run on your machine: ${command}`;
  return new ApiError(409, 'CLIENT_NEEDED', `could not rerun run ${of} on the server: ${why}${advice}`);
}

interface Canceled {
  /** Resolves when its end is recorded (false), or to true when the host has it. */
  readonly isHandedBack: Promise<boolean>;
}

/** The runs that are resumed only to be canceled. */
interface Canceling {
  /** They are being resumed. */
  readonly begun: Set<Promise<unknown>>;
  /** When nothing more is done about each here. */
  readonly runs: Map<RunHandle, Promise<boolean>>;
}

interface CancelParts extends HostedExecutorParts {
  readonly cancelBy: string;
  readonly cancelsOnce: boolean;
  readonly canceling: Canceling;
}

/**
 * Resumes the run only to cancel it, without waiting for a slot. If the run then has containers to create, for its `finally`
 * steps, this leaves it to the host, which waits.
 */
async function cancel(runId: string, given: CancelParts): Promise<Result<Canceled, string>> {
  const { home, service, secrets, restrictions, log, traces, cancelBy, cancelsOnce, canceling, leaving } = given;
  if (leaving.aborted) return fail(describeClosing().message);
  let run: RunHandle | undefined;
  let needsSlot = false;
  const leave = () => {
    needsSlot = true;
    void run?.suspend();
  };
  const resumed = await resumeToCancel({
    ...{ runId, home, service: rejectCreation(service, leave), cancelBy, cancelsOnce, signal: leaving },
    secrets: (name, of) => secrets.read(of, name),
    ...{ ...restrictions, ...(traces && { traces }) },
  });
  if (!resumed.ok) return fail(resumed.error.message);
  run = resumed.value;
  // Another process has it and cancels it.
  if (run === undefined) return ok({ isHandedBack: Promise.resolve(false) });
  if (needsSlot) leave();
  const handle = run;
  const isHandedBack = recordEnd(handle, given)
    .catch((error: Error) => {
      log(`run ${runId}: could not record its end: ${error.message}`);
      return false;
    })
    .finally(() => canceling.runs.delete(handle));
  canceling.runs.set(handle, isHandedBack);
  return ok({ isHandedBack });
}

async function recordEnd(
  { runId, finished }: RunHandle,
  { home, secrets, host }: Pick<CancelParts, 'home' | 'secrets' | 'host'>,
): Promise<boolean> {
  const { status } = await finished;
  if (status === 'suspended') {
    // The host of the account may have dropped it.
    if (!isHosted(home, runId)) await requireMove(home, runId, 'detach');
    host.take(runId);
    return true;
  }
  await secrets.remove(runId);
  await requireMove(home, runId, 'end');
  return false;
}
