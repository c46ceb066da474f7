import type { End } from '../engine.ts';
import type { DockerContainer } from './docker-api.ts';
import type { DockerRecord } from './docker-records.ts';

type DaemonState = DockerContainer['State'];

/**
 * The exit code of the daemon's helper if the kernel rejects the command line. Its message goes to a log that does not
 * exist.
 */
const NOT_EXECUTED = 1;
/** The exit code of the first process if it does not start the command. */
const NOT_STARTED = 125;
const TOO_LONG =
  'could not start the command: its arguments and environment are too long (Linux takes 128 KiB each, and 2 MiB together): put them into files';

/** How a container ended, and when. */
export interface DockerOutcome {
  readonly endedAt: number;
  readonly end: End;
}

/** The evidence about a container. */
export interface DockerEvidence {
  /** What the daemon reports now; undefined if it does not know the container or does not respond. */
  readonly state: DaemonState | undefined;
  /** What the first process has written; undefined for a container without one. Read after `state`. */
  readonly record: DockerRecord | undefined;
  /** A stop was requested by the service. */
  readonly stopped: boolean;
  /** Another client sent it, through the daemon, a signal that ends most programs. Default: false. */
  readonly killed?: boolean;
}

/**
 * How a container ended; undefined if there is no evidence of an end. The record of the first process takes precedence: a
 * daemon that was restarted reports an invented exit code for ends that it missed.
 */
export function dockerOutcome({ state, record, stopped, killed = false }: DockerEvidence): DockerOutcome | undefined {
  const exit = record?.exit;
  if (exit === undefined && (state === undefined || !hasEnded(state.Status))) return undefined;
  const endedAt = exit?.endedAt ?? endTime(state);
  if (stopped) return { endedAt, end: { kind: 'stopped' } };
  if (exit !== undefined) return { endedAt, end: withMemory(exit.end, state) };
  const end = daemonEnd(state as DaemonState, record);
  // A first process records itself that it was stopped.
  const isStopped = killed && record === undefined && end.kind === 'exited' && end.outOfMemory !== true;
  return { endedAt, end: isStopped ? stoppedFromOutside(end.exitCode) : end };
}

function stoppedFromOutside(exitCode: number): End {
  return { kind: 'fault', reason: `the container was stopped from outside (exit code ${exitCode})` };
}

/** Whether the daemon's status means that the container has ended. */
export function hasEnded(status: string): boolean {
  return status === 'exited' || status === 'dead' || status === 'stopped';
}

/** The start time that the daemon reports, in milliseconds since the epoch; undefined before the start. */
export function startTime(state: DaemonState | undefined): number | undefined {
  if (state === undefined || state.StartedAt.startsWith('0001-')) return undefined;
  return Date.parse(state.StartedAt);
}

function daemonEnd(state: DaemonState, record: DockerRecord | undefined): End {
  if (neverStarted(state)) return { kind: 'rejected', reason: state.Error || 'the container could not be started' };
  // The daemon was not running when the container ended, so this is not the command's exit code.
  if (state.ExitCode === 255 && (state.Error ?? '') !== '') return { kind: 'fault', reason: state.Error ?? '' };
  if (record !== undefined && record.startedAt === undefined && state.ExitCode === NOT_EXECUTED) {
    return { kind: 'rejected', reason: TOO_LONG };
  }
  if (record !== undefined && record.startedAt === undefined && state.ExitCode === NOT_STARTED) {
    return { kind: 'fault', reason: 'could not record the start of the command, so it was not started' };
  }
  if (record !== undefined && state.OOMKilled !== true) {
    // The first process always writes its record before it exits, unless it is killed by SIGKILL.
    return { kind: 'fault', reason: `the container was killed from outside (Docker Engine says ${state.ExitCode})` };
  }
  // 128 + n can mean a signal or the command's own exit code: Docker does not distinguish them.
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
