import { setTimeout as delay } from 'node:timers/promises';
import { readCustody, runCustody } from '@sluice/home';
import { isTemporary, type RunError, type RunReport } from '@sluice/run';
import { type RunHandle, type RunnerOptions, resumeRun } from '@sluice/runner';
import type { HostMetrics } from '../metrics/host-metrics.ts';
import type { HostedOptions, OpenHostedService } from './hosted-service.ts';
import { requireMove } from './require-move.ts';
import type { RunSlots } from './run-slots.ts';

/** A run that this host executes, or tries to. */
export interface HostedRun {
  /** Whether it is being executed now. */
  isExecuting(): boolean;
  /** Why it could not be executed the last time. */
  message(): string | undefined;
  /** Resolves when this host is no longer responsible for the run. Never rejects. */
  readonly over: Promise<void>;
  /** Uses this environment from now on, and tries again at once if the run is not executed. */
  retry(env: NodeJS.ProcessEnv): void;
  /** Leaves the run; resolves when its journal is closed. */
  suspend(): Promise<void>;
}

/** What executing hosted runs depends on. */
export interface HostRunParts {
  readonly home: string;
  readonly openService: OpenHostedService;
  /** Looks up a secret of a run in its environment, else in the home. */
  readonly readSecret: (name: string, env: NodeJS.ProcessEnv, runId: string) => string | undefined;
  /** What a run does on the machine of this host only with restrictions. Default: everything. */
  readonly restrictions?: Pick<RunnerOptions, 'notifier' | 'delivers' | 'allowance'>;
  /** Called when the run has ended, and again if the process was killed before the promise was resolved. */
  readonly onEnded?: (runId: string) => Promise<void>;
  /** Why no run may be executed now; asked before each attempt, and at intervals. Default: nothing prevents it. */
  readonly findHold?: () => Promise<string | undefined>;
  /** Limits how many runs are executed at once. Default: no limit. */
  readonly slots?: RunSlots;
  /**
   * Cancels a run of the home, which no process executes, for one of its concurrency group. Resolves to whether it needs a slot
   * to end. Default: the run that replaces it also executes it.
   */
  readonly cancelLeft?: (runId: string, by: string) => Promise<boolean>;
  /** Receives one line, without its end, for the operator. */
  readonly log: (line: string) => void;
  /** Measures the runs. Default: nothing does. */
  readonly metrics?: HostMetrics;
  /** Starts the action as soon as few enough others are running. */
  readonly limit: <T>(action: () => Promise<T>) => Promise<T>;
}

/** How often an executed run is checked for a hold. */
const HOLD_MS = 30_000;
const SHORTEST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 60_000;
/** Attempts for a run that another process executes, which may be leaving it. */
const TRIES_IN_USE = 8;

/** The result of one attempt to execute a run; `again`: another attempt may succeed. */
interface Attempted {
  readonly next: 'over' | 'again';
  readonly message?: string;
}

interface State {
  readonly runId: string;
  env: NodeJS.ProcessEnv;
  handle: RunHandle | undefined;
  message: string | undefined;
  /** Consecutive attempts that failed. */
  failures: number;
  /** Aborted when this host leaves the run. */
  readonly leaving: AbortController;
  /** Whether it was requested again since the last attempt began. */
  isRequested: boolean;
  wake: AbortController;
}

/** Executes a marked run until it has ended, its mark is removed, or it cannot be resumed. */
export function hostRun(runId: string, parts: HostRunParts & { readonly env: NodeJS.ProcessEnv }): HostedRun {
  const { env } = parts;
  const state: State = {
    ...{ runId, env, handle: undefined, message: undefined },
    ...{ failures: 0, leaving: new AbortController(), isRequested: false, wake: new AbortController() },
  };
  const over = executeRepeatedly(state, parts).catch((error: unknown) => {
    parts.log(`run ${runId}: stopped because of an unexpected error: ${(error as Error).stack ?? error}`);
    parts.metrics?.setAside(runId);
  });
  return {
    over,
    isExecuting: () => state.handle !== undefined,
    message: () => state.message,
    retry(given) {
      state.env = given;
      state.isRequested = true;
      state.wake.abort();
    },
    async suspend() {
      state.leaving.abort();
      state.wake.abort();
      await state.handle?.suspend();
      await over;
    },
  };
}

function isLeaving({ leaving }: State): boolean {
  return leaving.signal.aborted;
}

async function executeRepeatedly(state: State, parts: HostRunParts): Promise<void> {
  while (!isLeaving(state)) {
    state.isRequested = false;
    const { next, message } = await attempt(state, parts);
    if (message !== undefined && message !== state.message) parts.log(`run ${state.runId}: ${message}`);
    state.message = message;
    if (isLeaving(state) || (next === 'over' && !state.isRequested)) return;
    state.failures++;
    const pauseMs = Math.min(LONGEST_PAUSE_MS, SHORTEST_PAUSE_MS * 2 ** Math.min(state.failures - 1, 10));
    await delay(pauseMs, undefined, { signal: state.wake.signal }).catch(() => {});
    state.wake = new AbortController();
  }
}

async function attempt(state: State, parts: HostRunParts): Promise<Attempted> {
  const { slots } = parts;
  if (slots === undefined) return execute(state, parts);
  if (!slots.isFree()) state.message = 'waits until other runs of the account have ended';
  const release = await slots.acquire(state.leaving.signal);
  try {
    return await execute(state, parts);
  } finally {
    release?.();
  }
}

async function execute(state: State, parts: HostRunParts): Promise<Attempted> {
  const { runId } = state;
  // With the slot, so that runs get slots in their order, however long the measuring takes.
  const hold = await parts.findHold?.();
  if (hold !== undefined) return { next: 'again', message: hold };
  const handle = await parts.limit(() => take(state, parts));
  if ('next' in handle) return handle;
  state.handle = handle;
  state.failures = 0;
  state.message = undefined;
  parts.log(`run ${runId}: executing`);
  // The host may have been asked to end while the run was resumed.
  if (isLeaving(state)) await handle.suspend();
  const watch = setInterval(() => void leaveOnHold(handle, parts), HOLD_MS).unref();
  const report = await handle.finished.finally(() => clearInterval(watch));
  state.handle = undefined;
  parts.metrics?.leave(runId);
  return judgeEnd(report, { ...parts, runId });
}

/** The containers keep running, and the run continues as soon as nothing prevents it. */
async function leaveOnHold(handle: RunHandle, { findHold, log }: HostRunParts): Promise<void> {
  const hold = await findHold?.().catch(() => undefined);
  if (hold === undefined) return;
  log(`run ${handle.runId}: suspended: ${hold}`);
  await handle.suspend();
}

async function take(state: State, parts: HostRunParts): Promise<RunHandle | Attempted> {
  const { runId, env } = state;
  const { home, metrics } = parts;
  const options = isLeaving(state) ? undefined : await readOptions(home, runId);
  if (options === undefined) return { next: 'over' };
  const opened = await parts.openService(options, env);
  if (!opened.ok) return { next: 'again', message: opened.error };
  const { service, polls, traces } = opened.value;
  const { cancelLeft } = parts;
  // Otherwise this run would wait with its slot for one that waits for a slot.
  const yielding = new AbortController();
  const resumed = await resumeRun({
    ...{ runId, home, service: metrics?.measure(service) ?? service, ...(polls && { polls }) },
    signal: AbortSignal.any([state.leaving.signal, yielding.signal]),
    ...(metrics && { reporter: metrics.reporter }),
    ...(traces && { traces }),
    // Also of an earlier run of its group, which it cancels.
    secrets: (name, of) => parts.readSecret(name, state.env, of),
    ...(cancelLeft && {
      cancelLeft: async (other, by) => {
        if (await cancelLeft(other, by)) yielding.abort(`waits until run ${other} has ended`);
      },
    }),
    ...parts.restrictions,
  });
  if (!resumed.ok && yielding.signal.aborted) return { next: 'again', message: yielding.signal.reason as string };
  return resumed.ok ? resumed.value : judgeRejection(resumed.error, state, parts);
}

async function judgeRejection({ code, message }: RunError, state: State, parts: HostRunParts): Promise<Attempted> {
  if (code === 'RUN_FINISHED' || code === 'RUN_NOT_FOUND') await end(state.runId, parts);
  if (code === 'JOURNAL_DAMAGED' || code === 'JOURNAL_LOST') parts.metrics?.setAside(state.runId);
  const mayEnd = isTemporary({ code }) || (code === 'RUN_IN_USE' && state.failures < TRIES_IN_USE);
  return { next: mayEnd ? 'again' : 'over', message };
}

async function end(runId: string, { home, onEnded }: HostRunParts): Promise<void> {
  await onEnded?.(runId);
  await requireMove(home, runId, 'end');
}

async function judgeEnd(report: RunReport, given: HostRunParts & { readonly runId: string }): Promise<Attempted> {
  const { home, runId } = given;
  const message = `${report.status}${report.message === undefined ? '' : `: ${report.message}`}`;
  if (report.status !== 'suspended') {
    await end(runId, given);
    return { next: 'over', message };
  }
  // Without a mark, another process has asked to continue the run itself.
  return { next: (await readOptions(home, runId)) === undefined ? 'over' : 'again', message };
}

/** With which the service of the run is opened; undefined: the host does not have the run, or not any more. */
async function readOptions(home: string, runId: string): Promise<HostedOptions | undefined> {
  const custody = await readCustody(runCustody(home, runId));
  return custody.state === 'host' ? custody.options : undefined;
}
