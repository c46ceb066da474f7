import { listHosted } from '@sluice/home';
import type { HostReply, HostRequest, HostStatus } from '../control/host-request.ts';
import { claimHost, type HostClaim, type HostWait } from './host-claim.ts';
import { type HostedRun, type HostRunParts, hostRun } from './host-run.ts';
import { shareServices } from './hosted-service.ts';
import { limitResumes } from './limit-resumes.ts';

/** What hosting the runs of a home depends on. */
export interface RunHostOptions extends Omit<HostRunParts, 'limit'>, HostWait {
  /** The environment of runs that are resumed without a request. */
  readonly env: NodeJS.ProcessEnv;
  /** Whether the host ends after its last run, or on request of a host that does not. */
  readonly isBackground: boolean;
  /** Creates a link to the page of this host, for a process of the same user. Undefined: it has none. */
  readonly createLink?: () => string | undefined;
}

/** Executes the hosted runs of a home in this process. */
export interface RunHost {
  /** Executes a marked run. */
  take(runId: string, env?: NodeJS.ProcessEnv): void;
  /** Executes the marked runs that it does not execute yet, such as those that could not be resumed. */
  takeMarked(): Promise<void>;
  status(): HostStatus;
  /** Leaves a run whose mark was removed; resolves when this host does nothing with it any more. */
  leave(runId: string): Promise<void>;
  /** Resolves when the host should be closed: it has no more runs, or another process asked it to end. */
  readonly ended: Promise<void>;
  /** Suspends all runs, which stay marked. Another process can host them when the promise resolves. */
  close(): Promise<void>;
}

interface State {
  readonly options: RunHostOptions;
  readonly parts: HostRunParts;
  readonly runs: Map<string, HostedRun>;
  readonly startedAt: number;
  isClosing: boolean;
  /** Whether the marked runs are known. */
  isReady: boolean;
  readonly end: () => void;
}

/** Resumes the marked runs of a home and executes others on request. Undefined: another process does. */
export async function openRunHost(options: RunHostOptions): Promise<RunHost | undefined> {
  const services = shareServices(options.openService);
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const state: State = {
    options,
    parts: { ...options, openService: services.open, limit: limitResumes() },
    runs: new Map(),
    startedAt: Date.now(),
    ...{ isClosing: false, isReady: false, end },
  };
  const claim = await claimHost(options.home, (request) => reply(state, request), options);
  if (claim === undefined) return undefined;
  await takeMarked(state);
  state.isReady = true;
  endIfIdle(state);
  return {
    take: (runId, env = options.env) => void take(state, runId, env),
    takeMarked: () => takeMarked(state),
    status: () => describe(state),
    leave: async (runId) => state.runs.get(runId)?.suspend(),
    ended,
    close: () => close(state, { claim, closeServices: services.close }),
  };
}

function reply(state: State, request: HostRequest): HostReply | undefined {
  // The sender starts another host, or asks the next one.
  if (state.isClosing) return undefined;
  switch (request.verb) {
    case 'take':
      take(state, request.runId, { ...state.options.env, ...request.env });
      break;
    case 'end':
      if (!state.options.isBackground) return { error: `process ${process.pid} already hosts the runs of this home` };
      finish(state);
      break;
    case 'link': {
      const link = state.options.createLink?.();
      return { status: describe(state), ...(link !== undefined && { link }) };
    }
    case 'status':
  }
  return { status: describe(state) };
}

async function takeMarked(state: State): Promise<void> {
  const { home, env } = state.options;
  for (const runId of await listHosted(home)) if (!state.runs.has(runId)) take(state, runId, env);
}

/** A host that is ending takes no run: it stays marked, and the next one resumes it. */
function take(state: State, runId: string, env: NodeJS.ProcessEnv): void {
  if (state.isClosing) return;
  const known = state.runs.get(runId);
  if (known !== undefined) {
    known.retry(env);
    return;
  }
  const run = hostRun(runId, { ...state.parts, env });
  state.runs.set(runId, run);
  void run.over.then(() => {
    state.runs.delete(runId);
    endIfIdle(state);
  });
}

function endIfIdle(state: State): void {
  if (state.options.isBackground && state.isReady && state.runs.size === 0) finish(state);
}

function finish(state: State): void {
  state.isClosing = true;
  state.end();
}

function describe({ runs, startedAt, options: { isBackground } }: State): HostStatus {
  const described = [...runs].map(([runId, run]) => {
    const message = run.message();
    return { runId, isExecuting: run.isExecuting(), ...(message !== undefined && { message }) };
  });
  return { pid: process.pid, startedAt: new Date(startedAt).toISOString(), isBackground, runs: described };
}

async function close(
  state: State,
  { claim, closeServices }: { readonly claim: HostClaim; readonly closeServices: () => Promise<void> },
): Promise<void> {
  finish(state);
  await Promise.all([...state.runs.values()].map((run) => run.suspend()));
  await closeServices();
  await claim.release();
}
