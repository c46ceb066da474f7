import { describe, expect, it } from 'vitest';
import { stateInOutput } from '../../../src/engines/slurm/state-in-output.ts';

describe('stateInOutput', () => {
  it.each([
    ['slurmstepd-n2: error: *** JOB 15 ON n2 CANCELLED AT 2026-11-30T14:58:01 DUE TO PREEMPTION ***', 'PREEMPTED'],
    ['slurmstepd: error: *** JOB 15 ON n2 CANCELLED AT 2026-11-30T14:58:01 DUE TO TIME LIMIT ***', 'TIMEOUT'],
    [
      'slurmstepd: error: *** JOB 15 ON n2 CANCELLED AT 2026-11-30T14:58:01 DUE TO NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS ***',
      'NODE_FAIL',
    ],
    ['slurmstepd: error: *** JOB 15 ON n2 CANCELLED AT 2026-11-30T14:58:01 ***', 'CANCELLED'],
    [
      '[2026-11-30T14:58:01.534] error: *** JOB 15 ON n2 CANCELLED AT 2026-11-30T14:58:01 DUE TO JOB REQUEUE ***',
      'CANCELLED',
    ],
    [
      'slurmstepd: error: Detected 1 oom_kill event in StepId=15.batch. Some of the step tasks have been OOM Killed.',
      'OUT_OF_MEMORY',
    ],
    [
      'slurmstepd: error: Detected 2 oom-kill event(s) in StepId=15.batch. Some of your processes may have been killed.',
      'OUT_OF_MEMORY',
    ],
  ])('reads %j as %s', (line, state) => {
    expect(stateInOutput(`${' '.repeat(80)}\n${line}\n`, '15')).toBe(state);
  });

  it('reads nothing of other jobs, steps, texts, or of no job', () => {
    const of = (entity: string) => `slurmstepd: error: *** ${entity} ON n2 CANCELLED AT 2026-11-30T14:58:01 ***`;
    for (const text of ['', of('JOB 115'), of('JOB 1'), of('STEP 15.0'), 'JOB 15 CANCELLED'])
      expect(stateInOutput(text, '15'), text).toBeUndefined();
    expect(stateInOutput(of('JOB 15'), '')).toBeUndefined();
    expect(stateInOutput(`${of('JOB 9')}\n${of('JOB 15')}`, '15')).toBe('CANCELLED');
  });
});
