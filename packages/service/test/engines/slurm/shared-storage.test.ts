import { expect, it } from 'vitest';
import { judgeStorage } from '../../../src/engines/slurm/shared-storage.ts';

const judge = (path: string, type: string, { locksAreLocal = false, isOneMachine = false } = {}) =>
  judgeStorage({ path, mount: { type, locksAreLocal }, isOneMachine });

it.each([
  ['/tmp/home', 'ext4', 'each machine has its own /tmp'],
  ['/var/tmp/home', 'xfs', 'each machine has its own /var/tmp'],
  ['/home/ada', 'tmpfs', 'it is in the memory of this machine'],
])('judgeStorage rejects %s on %s', (path, type, fault) => {
  expect(judge(path, type).fault).toContain(fault);
  expect(judge(path, type).fault).toContain('--home or SLUICE_HOME');
});

it.each(['ext4', 'xfs', 'overlay'])('judgeStorage warns about %s, which the machine may export', (type) => {
  const { fault, warnings } = judge('/home/ada', type);
  expect(fault).toBeUndefined();
  expect(warnings).toEqual([expect.stringContaining(`the file system of /home/ada (${type}) is on a disk`)]);
});

it.each(['nfs4', 'lustre', 'gpfs', 'beegfs', 'fuse.unknown'])('judgeStorage accepts %s', (type) => {
  expect(judge('/home/ada', type)).toEqual({ warnings: [] });
  expect(judge('/tmp/shared', type)).toEqual({ warnings: [] });
});

it('judgeStorage warns about locks that are valid on this machine only', () => {
  const { warnings } = judge('/home/ada', 'nfs', { locksAreLocal: true });
  expect(warnings).toEqual([expect.stringContaining('file locks of /home/ada (nfs) are valid on this machine only')]);
});

it('judgeStorage accepts every file system if all nodes are this machine, or if the mount is unknown', () => {
  expect(judge('/tmp/home', 'tmpfs', { isOneMachine: true })).toEqual({ warnings: [] });
  expect(judgeStorage({ path: '/tmp/home', mount: undefined, isOneMachine: false })).toEqual({ warnings: [] });
});
