const IN_MEMORY = ['tmpfs', 'ramfs'];
/** Of disks. A machine can export one, and then others see it. */
const OF_DISKS = ['ext2', 'ext3', 'ext4', 'xfs', 'btrfs', 'zfs', 'f2fs', 'overlay'];

/** Where the files of a file system are, by its type in `Mount`. An unknown type counts as one of a network. */
export function fileSystemPlace(type: string): 'memory' | 'disk' | 'elsewhere' {
  if (IN_MEMORY.includes(type)) return 'memory';
  return OF_DISKS.includes(type) ? 'disk' : 'elsewhere';
}
