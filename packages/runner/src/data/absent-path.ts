import { hash } from 'node:crypto';
import { runPath } from '@sluice/run';

/** The empty directory that is mounted for a path in an output that was not published; no other path is inside it. */
export function absentPath(runId: string, of: { step: string; output: string; path: string }): string {
  return `${runPath(runId)}/absent/${of.step}/${of.output}/${hash('sha256', of.path).slice(0, 16)}`;
}
