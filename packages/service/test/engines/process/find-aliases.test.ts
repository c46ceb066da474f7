import { expect, test } from 'vitest';
import { findAliases } from '../../../src/engines/process/find-aliases.ts';

const MOUNTS = `22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 22 8:2 / /mnt/big\\040disk rw shared:2 - ext4 /dev/sdb1 rw
31 22 8:2 /home /home rw shared:2 - ext4 /dev/sdb1 rw
32 22 8:2 /home/ada/project/.sluice/service /srv/service rw - ext4 /dev/sdb1 rw
33 22 8:1 /home /old-home rw shared:1 - ext4 /dev/sda1 rw
34 22 0:40 / /proc rw - proc proc rw
`;

test('findAliases, finds a disk that is mounted twice, and mounts of parts of the directory', () => {
  expect(findAliases('/home/ada/project/.sluice', MOUNTS)).toEqual([
    '/mnt/big disk/home/ada/project/.sluice',
    '/srv/service',
  ]);
});

test('findAliases, without other mounts of the same directory finds none', () => {
  expect(findAliases('/var/lib/sluice', MOUNTS)).toEqual([]);
  expect(findAliases('/home', '')).toEqual([]);
});

test('findAliases, of mounts at one point uses the last one', () => {
  const over = `${MOUNTS}35 31 8:3 / /home rw - ext4 /dev/sdc1 rw\n36 22 8:3 /ada /ada rw - ext4 /dev/sdc1 rw\n`;
  expect(findAliases('/home/ada/x', over)).toEqual(['/ada/x']);
});
