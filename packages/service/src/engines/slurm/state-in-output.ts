import { own } from '@sluice/client';

/** Why `slurmstepd` says that a job was canceled, and the state that Slurm gives the job. */
const STATES: Readonly<Record<string, string>> = {
  'TIME LIMIT': 'TIMEOUT',
  PREEMPTION: 'PREEMPTED',
  'NODE FAILURE': 'NODE_FAIL',
};

const CANCELLATION = /\*\*\* JOB (\d+) ON \S+ CANCELLED AT \S+(?: DUE TO ([A-Z ]*[A-Z]))?/g;

/**
 * The state of a job that Slurm ended, from what `slurmstepd` has written into its output; undefined if it has written none.
 * Slurm forgets an ended job (`MinJobAge`, 5 minutes by default), and no service may have asked it meanwhile. Source: the
 * messages of `slurmstepd` in Slurm 22.05.
 */
export function stateInOutput(output: string, jobId: string): string | undefined {
  const oom = /Detected \d+ oom[_-]kill event.* in StepId=(\d+)\./.exec(output);
  if (oom?.[1] === jobId) return 'OUT_OF_MEMORY';
  for (const [, id, cause = ''] of output.matchAll(CANCELLATION)) {
    if (id === jobId) return own(STATES, cause) ?? 'CANCELLED';
  }
  return undefined;
}
