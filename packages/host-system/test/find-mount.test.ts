import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { findMount, parseMounts } from '../src/find-mount.ts';

const MOUNTS = `22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 22 0:40 / /home rw shared:2 - autofs auto.home rw
31 22 0:41 / /home rw shared:3 master:1 - nfs4 server:/home rw,vers=4.2,local_lock=none
32 22 0:42 / /old rw - nfs server:/old rw,vers=3,nolock,local_lock=all
33 22 0:43 / /scratch rw - lustre mgs@tcp:/scratch rw,flock,lazystatfs
34 22 0:44 / /local\\040locks rw - lustre mgs@tcp:/scratch rw,localflock,lazystatfs
`;

test.each([
  ['/etc', 'ext4', false],
  ['/home', 'nfs4', false],
  ['/home/ada/.sluice', 'nfs4', false],
  ['/homes', 'ext4', false],
  ['/old/ada', 'nfs', true],
  ['/scratch/ada', 'lustre', false],
  ['/local locks/ada', 'lustre', true],
])('parseMounts finds the file system of %s', (path, type, locksAreLocal) => {
  expect(parseMounts(MOUNTS, path)).toEqual({ type, locksAreLocal });
});

test('findMount reads the mounts of this machine', () => {
  expect(findMount(tmpdir())).toMatchObject({ locksAreLocal: false });
  expect(findMount('/does/not/exist')).toBeUndefined();
});
