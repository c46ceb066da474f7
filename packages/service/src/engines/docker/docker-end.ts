import type { End } from '../engine.ts';
import type { DockerContainer } from './docker-api.ts';

/** How an ended container ended, by the daemon's record. `stopped` says that we asked for it. */
export function dockerEnd(state: DockerContainer['State'], stopped: boolean): End {
  if (stopped) return { kind: 'stopped' };
  if (neverStarted(state)) return { kind: 'refused', reason: state.Error || 'the container could not be started' };
  // The daemon was away when it ended and has nothing better: this is no evidence of the command's own exit code.
  if (state.ExitCode === 255 && (state.Error ?? '') !== '') return { kind: 'fault', reason: state.Error ?? '' };
  // 128 + a signal's number may be the command's own exit code: Docker does not tell them apart.
  return { kind: 'exited', exitCode: state.ExitCode, ...(state.OOMKilled ? { outOfMemory: true } : {}) };
}

/** Whether the container has reached an end, by its status. */
export function hasEnded(status: string): boolean {
  return status === 'exited' || status === 'dead' || status === 'stopped';
}

function neverStarted(state: DockerContainer['State']): boolean {
  return state.StartedAt.startsWith('0001-') || (state.Error ?? '').includes('executable file not found');
}
