import { readFreeSpace } from '@sluice/host-system';

const LOOK_MS = 5_000;
/** Journal and store write pages of this size; below it, writes fail. */
const LEAST_BYTES = 64 * 1024;

/**
 * Prints a message each time the disk of a home becomes full or has free space again: runner and embedded service wait
 * silently for free space. Returns a function that stops watching.
 */
export function watchDisk(home: string, print: (text: string) => void): () => void {
  let isFull = false;
  const look = async () => {
    const { bytes, inodes } = await readFreeSpace(home);
    const before = isFull;
    isFull = bytes < LEAST_BYTES || inodes === 0;
    if (isFull && !before) print(`the disk of ${home} is full: the run waits for free space; nothing is lost`);
    if (!isFull && before) print(`the disk of ${home} has free space again`);
  };
  const timer = setInterval(() => void look().catch(() => {}), LOOK_MS);
  timer.unref();
  return () => clearInterval(timer);
}
