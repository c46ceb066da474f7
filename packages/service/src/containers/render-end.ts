import type { End } from '../engines/engine.ts';
import type { PhaseTrigger } from './phase-table.ts';

/** What an end means for the phase, and how it reads as `state`. */
export function renderEnd(end: End): { readonly trigger: PhaseTrigger; readonly state: string } {
  switch (end.kind) {
    case 'exited':
      return {
        trigger: end.exitCode === 0 && end.outOfMemory !== true ? 'succeeded' : 'failed',
        state: exitState(end),
      };
    case 'refused':
      return { trigger: 'failed', state: end.reason };
    case 'stopped':
      return { trigger: 'stopped', state: 'stopped' };
    case 'fault':
      return { trigger: 'fault', state: end.reason };
  }
}

function exitState(end: End & { kind: 'exited' }): string {
  if (end.outOfMemory === true) return `out of memory (exit code ${end.exitCode})`;
  if (end.signal !== undefined) return `exit code ${end.exitCode}: killed by ${end.signal}`;
  return `exit code ${end.exitCode}`;
}
