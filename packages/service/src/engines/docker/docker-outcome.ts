import type { End } from '../engine.ts';
import type { DockerContainer } from './docker-api.ts';
import type { DockerRecord } from './docker-records.ts';

type DaemonState = DockerContainer['State'];

/**
 * What the daemon's helper ends with where the kernel takes no command line from it; its words go to the log, of which
 * there is none.
 */
const NOT_EXECUTED = 1;
const TOO_LONG =
  'could not start the command: its arguments and environment are too long (Linux takes 128 KiB each, and 2 MiB together): put them into files';

/** How a container ended, and when. */
export interface DockerOutcome {
  readonly endedAt: number;
  readonly end: End;
}

/** What there is to judge by. */
export interface DockerEvidence {
  /** What the daemon says now, undefined when it knows nothing or is away. */
  readonly state: DaemonState | undefined;
  /** What the first process has written, undefined for a container without one. Read after `state`. */
  readonly record: DockerRecord | undefined;
  /** We asked for its end. */
  readonly stopped: boolean;
  /** Another client has had the daemon send it a signal that ends most programs. Default: none has. */
  readonly killed?: boolean;
}

/**
 * How a container ended, undefined when nothing says that it has. The first process's own record comes first: a daemon
 * that was away has a number of its own for what it missed.
 */
export function dockerOutcome({ state, record, stopped, killed = false }: DockerEvidence): DockerOutcome | undefined {
  const exit = record?.exit;
  if (exit === undefined && (state === undefined || !hasEnded(state.Status))) return undefined;
  const endedAt = exit?.endedAt ?? endTime(state);
  if (stopped) return { endedAt, end: { kind: 'stopped' } };
  if (exit !== undefined) return { endedAt, end: withMemory(exit.end, state) };
  const end = daemonEnd(state as DaemonState, record);
  // A first process would have said itself that it was stopped.
  const isStopped = killed && record === undefined && end.kind === 'exited' && end.outOfMemory !== true;
  return { endedAt, end: isStopped ? stoppedFromOutside(end.exitCode) : end };
}

function stoppedFromOutside(exitCode: number): End {
  return { kind: 'fault', reason: `the container was stopped from outside (exit code ${exitCode})` };
}

/** Whether the container has reached an end, by its status. */
export function hasEnded(status: string): boolean {
  return status === 'exited' || status === 'dead' || status === 'stopped';
}

/** When the daemon says that it started, undefined before that. */
export function startTime(state: DaemonState | undefined): number | undefined {
  if (state === undefined || state.StartedAt.startsWith('0001-')) return undefined;
  return Date.parse(state.StartedAt);
}

function daemonEnd(state: DaemonState, record: DockerRecord | undefined): End {
  if (neverStarted(state)) return { kind: 'refused', reason: state.Error || 'the container could not be started' };
  // The daemon was away when it ended and has nothing better: this is no evidence of the command's own exit code.
  if (state.ExitCode === 255 && (state.Error ?? '') !== '') return { kind: 'fault', reason: state.Error ?? '' };
  if (record !== undefined && record.startedAt === undefined && state.ExitCode === NOT_EXECUTED) {
    return { kind: 'refused', reason: TOO_LONG };
  }
  if (record !== undefined && state.OOMKilled !== true) {
    // It writes its record before it goes: only a signal that none can catch ends it without.
    return { kind: 'fault', reason: `the container was killed from outside (Docker Engine says ${state.ExitCode})` };
  }
  // 128 + a signal's number may be the command's own exit code: Docker does not tell them apart.
  return { kind: 'exited', exitCode: state.ExitCode, ...(state.OOMKilled ? { outOfMemory: true } : {}) };
}

function withMemory(end: End, state: DaemonState | undefined): End {
  const isFailure = end.kind === 'exited' && end.exitCode !== 0;
  return isFailure && state?.OOMKilled === true ? { ...end, outOfMemory: true } : end;
}

function neverStarted(state: DaemonState): boolean {
  return startTime(state) === undefined || (state.Error ?? '').includes('executable file not found');
}

function endTime(state: DaemonState | undefined): number {
  const time = Date.parse(state?.FinishedAt ?? '');
  return time > 0 ? time : Date.now();
}
