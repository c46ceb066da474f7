import { expect, it } from 'vitest';
import { describeSlurmLimits } from '../../../src/engines/slurm/slurm-limits.ts';

const PARTITIONS = `qexp*|up|1:00:00|10:00|2|36|192000|(null)
qexp*|up|1:00:00|10:00|1|36|384000|gpu:a100:4(S:0-1)
qlong|down|6-00:00:00|n/a|100|128|256000|(null)
`;
const CONFIG = `MaxArraySize            = 1001
MaxJobCount             = 10000
EnforcePartLimits       = NO
`;

it('describeSlurmLimits says what the limits of a site mean, one a line', () => {
  const associations = { text: 'open-1||normal|20|100|2-00:00:00|||\nopen-2|qlong||||||\n' };
  expect(describeSlurmLimits({ partitions: PARTITIONS, config: CONFIG, associations })).toEqual([
    'partition qexp (the default): jobs of at most 1:00:00, 10:00 without `time`, `timeout` and `timeLimit`; nodes: 2 × 36 cores, 192000 MB; 1 × 36 cores, 384000 MB, gpu:a100:4(S:0-1)',
    'partition qlong, down: jobs of at most 6-00:00:00; nodes: 100 × 128 cores, 256000 MB',
    'MaxJobCount 10000: all users together; beyond it, submissions are repeated until one succeeds',
    'MaxArraySize 1001: of no effect, since each container is a job of its own',
    'EnforcePartLimits NO: a job that fits no node of its partition waits forever instead of failing',
    'account open-1: at most 100 jobs in the queue (MaxSubmitJobs): set `limits: { clusters: { slurm: 100 } }` in the profile; at most 20 running jobs (MaxJobs): others wait; jobs of at most 2-00:00:00 (MaxWall): longer ones wait forever; qos normal',
    'account open-2 in partition qlong: no limits of its own',
  ]);
});

it('describeSlurmLimits says what is unknown', () => {
  const associations = { error: 'no sacctmgr' };
  expect(describeSlurmLimits({ partitions: undefined, config: undefined, associations })).toEqual([
    'limits of your account: unknown (no sacctmgr); a job beyond them waits, or its submission is repeated',
  ]);
  const none = { text: '' };
  expect(describeSlurmLimits({ partitions: '', config: '', associations: none })).toEqual([
    'limits of your account: none are set for you',
  ]);
});
