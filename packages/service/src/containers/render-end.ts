import type { End } from '../engines/engine.ts';
import type { PhaseTrigger } from './phase-table.ts';

/** The trigger of the phase change for an end, and its description for `state`. */
export function renderEnd(end: End): { readonly trigger: PhaseTrigger; readonly state: string } {
  switch (end.kind) {
    case 'exited':
      return {
        trigger: end.exitCode === 0 && end.outOfMemory !== true && end.timedOut !== true ? 'succeeded' : 'failed',
        state: exitState(end),
      };
    case 'rejected':
      return { trigger: 'failed', state: end.reason };
    case 'stopped':
      return { trigger: 'stopped', state: 'stopped' };
    case 'fault':
      return { trigger: 'fault', state: end.reason };
  }
}

function exitState(end: End & { kind: 'exited' }): string {
  if (end.outOfMemory === true) return `out of memory (exit code ${end.exitCode})`;
  // The runner knows a time limit by these words.
  if (end.timedOut === true) return `time limit exceeded (exit code ${end.exitCode})`;
  const exit =
    end.signal === undefined ? `exit code ${end.exitCode}` : `exit code ${end.exitCode}: killed by ${end.signal}`;
  return end.diskFull === true ? `the disk of the service is full (${exit})` : exit;
}
